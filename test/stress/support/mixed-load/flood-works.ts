import type { ReceivedOutput } from "../../../support/received-output.ts"
import { StreamClient } from "../../../support/stream-client.ts"
import { encodingsOf, pickFlood } from "./floods.ts"
import { expectTruth } from "./told-truth.ts"
import { execute, heard, only, pick, type Work } from "./work.ts"

/** Reads a flood as fast as it can. */
export const floodWork: Work = {
  kind: "flood",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const { argv, encoding, truth } = await pickFlood(stage)
    const { id, output } = await execute(stage, client, { argv, encoding }, truth.ending)
    await expectTruth(client, id, output, truth)
    stage.evidence.count("flood bytes", output.bytes)
  },
}

/** Stops reading in the middle of a flood, several times, and goes on. */
export const stallWork: Work = {
  kind: "stall",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const { argv, encoding, truth } = await pickFlood(stage)
    const { id, output } = await execute(stage, client, { argv, encoding }, truth.ending)
    for (let stalls = 0; stalls < 3; stalls += 1) {
      const place = Math.min(truth.stdout.bytes, output.bytes + stage.random(2_000_000))
      await heard(output, `byte ${place}`, () => output.bytes >= place)
      client.stall()
      await Bun.sleep(200 + stage.random(800)) // that it does not read for a while is the load
      client.goOn()
    }
    await expectTruth(client, id, output, truth)
    stage.evidence.count("stalls", 3)
  },
}

/** Breaks off in the middle of its own flood and comes back to where it was, again and again. */
export const comeBackWork: Work = {
  kind: "come back",
  sessions: 1,
  async run(stage, clients) {
    const { argv, isText, encoding, truth } = await pickFlood(stage)
    const started = await execute(stage, only(clients), { argv, encoding }, truth.ending)
    const { id, output } = started
    const outputs = new Map([[id, output]])
    let client = only(clients)
    using later = new DisposableStack()
    for (let returns = 0; returns < 6; returns += 1) {
      const place = Math.min(truth.stdout.bytes, output.bytes + stage.random(1_000_000))
      await heard(output, `byte ${place}`, () => output.bytes >= place)
      if (output.life.includes("process.completed")) break
      client.cut()
      stage.evidence.count("reconnects", 1)
      client = later.use(await StreamClient.connect(stage.url, outputs))
      // Half a character that was taken as bytes leaves another half that is no text.
      const possible = encodingsOf({ isText: isText && output.isBetweenCharacters })
      await client.attach({ execution_id: id, encoding: pick(stage, possible), role: "driver" })
    }
    await expectTruth(client, id, output, truth)
  },
}

/** Each has a flood of its own, and attaches to those of all the others, early or late. */
export const eachOtherWork: Work = {
  kind: "each other",
  sessions: 3,
  async run(stage, clients) {
    const floods = await Promise.all(
      clients.map(async (client) => {
        const flood = await pickFlood(stage)
        const { argv, encoding, truth } = flood
        const started = await execute(stage, client, { argv, encoding }, truth.ending)
        return { ...flood, ...started, client }
      }),
    )
    const observed = floods.flatMap(({ id, output: driven, truth, isText, client: driver }) =>
      clients
        .filter((client) => client !== driver)
        .map(async (client) => {
          const place = stage.random(truth.stdout.bytes)
          const encoding = pick(stage, encodingsOf({ isText }))
          await heard(driven, `byte ${place}`, () => driven.bytes >= place)
          const output: ReceivedOutput = await client.attach({ execution_id: id, encoding })
          await expectTruth(client, id, output, truth)
        }),
    )
    const driven = floods.map(({ client, id, output, truth }) =>
      expectTruth(client, id, output, truth),
    )
    await Promise.all([...observed, ...driven])
    stage.evidence.count("observers", observed.length)
  },
}
