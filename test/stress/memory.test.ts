import { describe, expect, test } from "bun:test"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { fixture } from "../support/independent-run.ts"
import { memoryOf } from "../support/memory-of.ts"
import { fewIfShort, onlyInFull } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const mostMb = 100
const floodMs = 15_000

// A short run watches the same for longer in `flood-memory.test.ts`.
describe("a flood with a fast client, a slow one and one that never reads", () => {
  testUnless(onlyInFull, "`yes` for some seconds leaves both processes below 100 MB", async () => {
    await using service = await Service.start()
    const url = await service.url()
    using fast = await StreamClient.connect(url)
    using slow = await StreamClient.connect(url)
    using deaf = await StreamClient.connect(url)
    const { id, output } = await fast.execute({ argv: ["yes"] })
    await deaf.attach({ execution_id: id })
    deaf.stall()
    slow.output(id).onChunk = () => slow.stall()
    await slow.attach({ execution_id: id, encoding: "base64" })
    const pids = { keeper: service.pid, gateway: service.gatewayPid }
    const startedAtMs = performance.now()

    await until(
      "its time is over",
      () => {
        slow.goOn() // for as many chunks as are on their way
        return performance.now() - startedAtMs > floodMs
      },
      floodMs + 30_000,
    )
    const keeper = memoryOf(pids.keeper)
    const gateway = memoryOf(pids.gateway)
    await fast.call("control", { type: "CANCEL", execution_id: id })

    const took = [output, slow.output(id), deaf.output(id)].map((one) =>
      Math.round(one.bytes / 1e6),
    )
    console.log(`taken: fast ${took[0]} MB, slow ${took[1]} MB, deaf ${took[2]} MB`)
    console.log(`keeper at most ${keeper.peakMb.toFixed(1)} MB, now ${keeper.nowMb.toFixed(1)}`)
    console.log(`gateway at most ${gateway.peakMb.toFixed(1)} MB, now ${gateway.nowMb.toFixed(1)}`)
    expect(service.gatewayPid).toBe(pids.gateway)
    expect(keeper.peakMb).toBeLessThan(mostMb)
    expect(gateway.peakMb).toBeLessThan(mostMb)
    expect(output.bytes).toBeGreaterThan(40_000_000)
  })
})

describe("a flood that is costly to encode", () => {
  test.each(
    fewIfShort(2, [
      ["control characters", { command: "yes $'\\a\\b' | head -c 100000000", encoding: "utf8" }],
      ["noise as text", { argv: fixture("noise.ts", 60_000_000), encoding: "utf8" }],
      ["lines of emoji", { command: "yes 😀😀😀 | head -c 200000000", encoding: "utf8" }],
      ["base64", { command: "yes | head -c 300000000", encoding: "base64" }],
    ]) satisfies [string, ParamsOf<"execute">][],
  )(
    "%s leaves both processes below 100 MB",
    async (what, params) => {
      await using service = await Service.start()
      using client = await StreamClient.connect(await service.url())

      const { output } = await client.execute(params)
      await output.completed
      const keeper = memoryOf(service.pid)
      const gateway = memoryOf(service.gatewayPid)

      const figures = [keeper, gateway].map(({ peakMb }) => peakMb.toFixed(1))
      console.log(`${what}: keeper at most ${figures[0]} MB, gateway ${figures[1]} MB`)
      expect(keeper.peakMb).toBeLessThan(mostMb)
      expect(gateway.peakMb).toBeLessThan(mostMb)
    },
    60_000,
  )
})
