import { expect } from "bun:test"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { reported } from "./support/evidence.ts"
import { noWallClock, WallClock } from "./support/faults/wall-clock.ts"

const hour = 3600
const jumps = [24 * hour, -25 * hour, 2 * hour, -hour]
const patient: ParamsOf<"execute"> = {
  argv: ["sh", "-c", "echo ready; read go; exit 5"],
  stdin: "pipe",
}
const ticking = "i=0; while [ $i -lt 80 ]; do echo $i; sleep 0.02; i=$((i+1)); done"

describeAContainment("a wall clock that jumps by hours, there and back", (containment) => {
  testUnless(
    noWallClock,
    "ends, extends and reorders nothing",
    reported(`clock jumps, ${containment}`, async () => {
      using folder = temporaryFolder()
      const clock = new WallClock(folder.path)
      await using service = await Service.start({ env: clock.env, flags: { containment } })
      using client = await StreamClient.connect(await service.url())
      const startedAtMs = performance.now()
      const timed = await client.execute({ ...patient, timeout: 4 })
      const idle = await client.execute({ ...patient, idle_timeout: 4 })
      const free = await client.execute({ ...patient, idempotency_key: "once" })
      const steady = await client.execute({ argv: ["sh", "-c", ticking] })
      const order = [timed, idle, free, steady].map(({ id }) => id)

      const daysTold: string[] = []
      for (const seconds of jumps) {
        clock.jump(seconds)
        const { id, output } = await client.execute(patient)
        const ticks = steady.output.lines
        await until("what runs goes on", () => steady.output.lines > ticks + 3)
        await client.call("input", { execution_id: id, data: "\n" })
        order.push(id)
        daysTold.push((await viewOf(client, id)).created_at.slice(0, 10))
        expect((await output.completed).exit_code).toBe(5)
        for (const one of [timed, idle, free]) {
          expect(await viewOf(client, one.id)).toMatchObject({ state: "running" })
        }
      }
      const again = await client.call("execute", { ...patient, idempotency_key: "once" })
      const ends = await Promise.all([timed, idle].map(({ output }) => output.completed))
      const elapsedSeconds = (performance.now() - startedAtMs) / 1000
      const { executions } = await client.call("list", {})
      const { exit_code } = await steady.output.completed

      expect(new Set(daysTold).size).toBeGreaterThan(1) // the service did see another day
      expect(again).toMatchObject({ execution_id: free.id, repeated: true })
      expect(ends.map(({ cause }) => cause)).toEqual(["wall-timeout", "idle-timeout"])
      for (const { execution_time } of ends) {
        expect(execution_time).toBeGreaterThanOrEqual(3.9)
        expect(execution_time).toBeLessThanOrEqual(elapsedSeconds)
      }
      expect(executions.map(({ execution_id }) => execution_id)).toEqual(order.toReversed())
      expect(exit_code).toBe(0)
      expect(steady.output.faults).toEqual([])
      expect(steady.output.tail("stdout")).toMatch(/^0\n1\n2\n3\n.*\n78\n79\n$/s)
      expect(await viewOf(client, free.id)).toMatchObject({ state: "running" })
    }),
    60_000,
  )
})

function viewOf(client: StreamClient, execution_id: string) {
  return client.call("status", { execution_id })
}
