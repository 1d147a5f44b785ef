import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { descriptorsOf, serviceDescriptors } from "../../src/execution/descriptor-needs.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const executions = 5
const script = { argv: ["sh", "-c", "echo ready; exec sleep 1000"] }
const ways = [
  { stdin: "closed" },
  { stdin: "pipe" },
  { stdin: "closed", terminal: { cols: 80, rows: 24 } },
] as const

describeAContainment("the descriptors that are kept for executions", (containment) => {
  test("are as many as the service opens, by pipes and on a terminal", async () => {
    await using service = await Service.start({ flags: { containment } })
    using session = await RawSession.open(await service.url())
    expect(openFiles(service.pid)).toBeLessThanOrEqual(serviceDescriptors)

    for (const way of ways) {
      const before = openFiles(service.pid)
      for (let number = 0; number < executions; number += 1) {
        const { execution_id } = await session.call("execute", { ...script, ...way })
        await session.heard("process.output", execution_id)
      }
      const wanted = executions * descriptorsOf(way)
      const opened = () => openFiles(service.pid) - before
      await until(`they have ${wanted} open`, () => opened() === wanted)
    }
  }, 60_000)
})

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
