import { identify, isStillThere, markedBy } from "../../../support/real-processes.ts"
import { fixture } from "../../../support/steered.ts"
import { StreamClient } from "../../../support/stream-client.ts"
import { pickFlood } from "./floods.ts"
import { processNamed } from "./steered-job.ts"
import { expectTruth } from "./told-truth.ts"
import { execute, heard, only, type Work } from "./work.ts"

const disconnected = { outcome: "stopped", cause: "disconnected" } as const

/** The label of what was asked for by somebody who did not wait for the answer. */
export const unansweredLabel = "unanswered"

/** Vanishes from a job that must not outlive its connection. */
export const vanishWork: Work = {
  kind: "vanish, cancel",
  sessions: 1,
  async run(stage, clients) {
    const job = { ...fixture("ticking-job.sh", stage.folder), on_disconnect: "cancel" } as const
    const { id, output } = await execute(stage, only(clients), job, disconnected)
    const pids = [await processNamed(output, "leader"), await processNamed(output, "grandchild")]
    if (output.life.includes("process.completed")) throw new Error(`${id} ended before it should`)
    const members = pids.map(identify)
    only(clients).cut()

    using witness = await StreamClient.connect(stage.url)
    const witnessed = await witness.attach({ execution_id: id, from: "start" })
    await expectTruth(witness, id, witnessed, { ending: disconnected })
    const left = [...members.filter(isStillThere).map(({ pid }) => pid), ...markedBy(id)]
    stage.evidence.orphans(left.length)
    if (left.length > 0) throw new Error(`${id} was disconnected and leaves ${left.join()}`)
  },
}

/** Vanishes so soon that it never learns whether its job was started; if so, it ends too. */
export const vanishUnansweredWork: Work = {
  kind: "vanish, unanswered",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const job = { ...fixture("ticking-job.sh", stage.folder), on_disconnect: "cancel" } as const
    const asked = client.call("execute", { ...job, labels: { [unansweredLabel]: "yes" } })
    asked.catch(() => undefined) // it is cut off before an answer can come
    for (let turns = stage.random(6); turns > 0; turns -= 1) await Bun.sleep(0)
    client.cut()
  },
}

/** Vanishes from a flood that goes on without it, of which another then has everything. */
export const vanishAndKeepWork: Work = {
  kind: "vanish, keep",
  sessions: 1,
  async run(stage, clients) {
    const { argv, encoding, truth } = await pickFlood(stage)
    const params = { argv, encoding, on_disconnect: "keep" } as const
    const { id, output } = await execute(stage, only(clients), params, truth.ending)
    const place = stage.random(truth.stdout.bytes)
    await heard(output, `byte ${place}`, () => output.bytes >= place)
    only(clients).cut()

    using heir = await StreamClient.connect(stage.url)
    const inherited = await heir.attach({ execution_id: id, encoding })
    await expectTruth(heir, id, inherited, truth)
  },
}
