import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ReceivedOutput } from "../support/received-output.ts"
import { fewIfShort } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

let service: Service
let url: string

beforeAll(async () => {
  service = await Service.start()
  url = await service.url()
})

afterAll(() => service[Symbol.asyncDispose]())

const argv = ["seq", "1", "400000"]
const policy = "block"
const budgets = fewIfShort(2, [
  { bytes: 1024 },
  { lines: 100 },
  { bytes: 200_000, lines: 1000 },
  { bytes: 40_000 },
  { bytes: 65_536 },
  { bytes: 120_000 },
  { bytes: 1_000_000 },
  { lines: 1 },
])

describe("a budget that blocks, far smaller than the output", () => {
  test.each(budgets)("%o loses nothing to a driver who says nothing", async (budget) => {
    using client = await StreamClient.connect(url)

    const { output } = await client.execute({ argv, budget: { ...budget, policy } })
    const completed = await output.completed

    expect(output.faults).toEqual([])
    expect(output.gaps.count).toBe(0)
    expect(output.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
    expect(completed.lines.stdout).toBe(400_000)
  })

  test.each(budgets)("%o loses nothing to a driver who acknowledges", async (budget) => {
    using client = await StreamClient.connect(url)
    const { execution_id } = await client.call("execute", { argv, budget: { ...budget, policy } })
    const output = client.output(execution_id)
    const acknowledge = () => {
      void client.call("ack", { execution_id, next: output.next }).catch(() => undefined)
    }

    output.onChunk = acknowledge
    if (output.chunks > 0) acknowledge()
    const completed = await output.completed

    expect(output.faults).toEqual([])
    expect(output.gaps.count).toBe(0)
    expect(output.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
  })

  test("loses nothing to a driver who breaks off, if what is under way to it is kept", async () => {
    using starter = await StreamClient.connect(url)
    const budget = { bytes: 80_000_000, policy } as const
    const { execution_id: id } = await starter.call("execute", {
      argv: ["/bin/sh", "-c", "seq 1 20000000 | tr 0-9 a-j"],
      budget,
      encoding: "binary",
    })
    starter.cut()
    const outputs = new Map<string, ReceivedOutput>()

    for (let cuts = 1; cuts <= 5; cuts += 1) {
      using client = await StreamClient.connect(url, outputs)
      const output = client.output(id)
      output.onChunk = () => output.bytes > cuts * 20_000_000 && client.cut()
      await client.attach({ execution_id: id, role: "driver", encoding: "binary" })
      await client.closed
    }
    using client = await StreamClient.connect(url, outputs)
    const output = client.output(id)
    output.onChunk = () => undefined
    await client.attach({ execution_id: id, role: "driver", encoding: "binary" })
    const completed = await output.completed

    expect(completed.bytes.stdout).toBeGreaterThan(2 * budget.bytes)
    expect(output.gaps.count).toBe(0)
    expect(output.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
  }, 60_000)
})

describe("a child that waits for its driver", () => {
  const budget = { bytes: 200_000, policy } as const

  test("says so while nobody drives it, and goes on when somebody does", async () => {
    const starter = await StreamClient.connect(url)
    const { id } = await starter.execute({ argv, budget })
    starter.cut()
    using observer = await StreamClient.connect(url)
    const seen = await observer.attach({ execution_id: id, role: "observer" })
    const waiting = await untilBlocked(observer, id)

    using driver = await StreamClient.connect(url)
    const taken = await driver.attach({ execution_id: id, role: "driver" })
    const completed = await taken.completed
    await seen.completed

    expect(waiting.state).toBe("running")
    expect(waiting.bytes.stdout).toBeLessThan(completed.bytes.stdout)
    expect(taken.bytes + taken.gaps.bytes).toBe(completed.bytes.stdout)
    expect(completed).toMatchObject({ status: "completed", exit_code: 0 })
  })

  test("waits for the slowest of its drivers, and for no observer", async () => {
    using fast = await StreamClient.connect(url)
    using slow = await StreamClient.connect(url)
    using deaf = await StreamClient.connect(url)
    const gated = ["/bin/sh", "-c", "read go; exec seq 1 3000000"]
    const { id, output } = await fast.execute({ argv: gated, stdin: "pipe", budget })
    await deaf.attach({ execution_id: id, role: "observer" })
    deaf.stall()
    slow.output(id).onChunk = () => slow.stall()
    await slow.attach({ execution_id: id, role: "driver" })
    await fast.call("input", { execution_id: id, data: "\n" })
    await untilBlocked(fast, id)
    const atThatTime = output.bytes

    slow.output(id).onChunk = () => undefined
    slow.goOn()
    const completed = await output.completed
    await slow.output(id).completed

    expect(atThatTime).toBeLessThan(completed.bytes.stdout)
    for (const one of [output, slow.output(id)]) {
      expect(one.gaps.count).toBe(0)
      expect(one.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
    }
  }, 60_000)

  test("is not forgotten by a driver who attaches again and again", async () => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv, budget, encoding: "binary" })

    for (let round = 0; round < 300; round += 1) {
      await client.attach({ execution_id: id, role: "driver", encoding: "binary" })
    }
    const completed = await output.completed

    expect(output.bytes + output.gaps.bytes).toBeGreaterThanOrEqual(completed.bytes.stdout)
    expect(completed.exit_code).toBe(0)
  })
})

async function untilBlocked(client: StreamClient, id: string) {
  return until("the child waits", async () => {
    const view = await client.call("status", { execution_id: id })
    return view.blocked && view
  })
}
