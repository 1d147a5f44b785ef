import { readFileSync } from "node:fs"
import { join } from "node:path"
import { identify, isStillThere, markedBy } from "../../../support/real-processes.ts"
import type { ReceivedOutput } from "../../../support/received-output.ts"
import { fixture } from "../../../support/steered.ts"
import { expectTruth, receiptOf } from "./told-truth.ts"
import { execute, heard, only, timed, type Work } from "./work.ts"

const pauseMs = 400
const ending = { outcome: "stopped", cause: "client" } as const

/** PAUSE, RESUME and CANCEL of a job of ninety seconds that would be heard and seen to go on. */
export const steeredJobWork: Work = {
  kind: "steered job",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const job = fixture("ticking-job.sh", stage.folder)
    const { id, output } = await execute(stage, client, job, ending)
    const execution_id = id
    const members = [
      identify(await processNamed(output, "leader")),
      identify(await processNamed(output, "grandchild")),
    ]
    await heard(output, "ticks", () => lastTick(output) > 2 + stage.random(10))

    const pause = client.call("control", { type: "PAUSE", execution_id })
    await timed(stage, "PAUSE", pause)
    const counts = countsIn(stage.folder)
    await Bun.sleep(pauseMs) // eight ticks, if it ran
    const later = countsIn(stage.folder)
    if (!Bun.deepEquals(later, counts)) {
      throw new Error(`${id} was paused at ${counts.join()} and is at ${later.join()}`)
    }
    const resume = client.call("control", { type: "RESUME", execution_id })
    await timed(stage, "RESUME", resume)
    const tick = lastTick(output)
    await heard(output, "more ticks", () => lastTick(output) > tick + 2)

    const cancel = client.call("control", { type: "CANCEL", execution_id })
    const canceled = await timed(stage, "CANCEL", cancel)
    const left = [...members.filter(isStillThere).map(({ pid }) => pid), ...markedBy(id)]
    if (left.length > 0) {
      stage.evidence.orphans(left.length)
      throw new Error(`${id} was canceled and leaves ${left.join()}`)
    }
    if (canceled.status !== "canceled" || canceled.survivors.length > 0) {
      throw new Error(`${id}: CANCEL was answered ${JSON.stringify(canceled)}`)
    }
    await expectTruth(client, id, output, { ending })
    const { paused_ms: paused } = await receiptOf(client, id)
    if (paused < pauseMs) throw new Error(`${id} was paused for ${paused} ms only`)
  },
}

/** Waits until it says its pid after a word. */
export async function processNamed(output: ReceivedOutput, word: string): Promise<number> {
  const line = new RegExp(`^${word} (\\d+)$`, "m")
  let pid = 0
  await heard(output, `the pid of its ${word}`, () => {
    if (pid === 0) pid = Number(line.exec(output.tail("stdout"))?.[1] ?? 0)
    return pid > 0
  })
  return pid
}

function lastTick(output: ReceivedOutput): number {
  const ticks = [...output.tail("stdout").matchAll(/^tick (\d+)\n/gm)]
  return Number(ticks.at(-1)?.[1] ?? 0)
}

function countsIn(folder: string): string[] {
  return ["leader", "grandchild"].map((name) => readFileSync(join(folder, name), "utf8").trim())
}
