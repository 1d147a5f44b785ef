import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Client } from "../../src/client/connect.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import { CuttingProxy } from "../support/cutting-proxy.ts"
import { followToEnd } from "../support/followed-output.ts"
import { quickClient } from "../support/following.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import type { ReceivedOutput } from "../support/received-output.ts"
import { seededRandom } from "../support/seeded-random.ts"
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
const budgets = [
  { bytes: 1024 },
  { bytes: 40_000 },
  { bytes: 65_536 },
  { bytes: 120_000 },
  { bytes: 1_000_000 },
  { lines: 1 },
  { lines: 100 },
  { bytes: 200_000, lines: 1000 },
]

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
  }, 30_000)
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
  }, 20_000)

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

describe("a slow user of the library, whose budget is smaller than a socket", () => {
  const noise = fixture("noise.ts", 20_000_000)
  const budget = { bytes: 65_536, policy } as const
  // Smaller than the budget: the library detaches, and drops what is under way, all the time.
  const limits = { queueBytes: 16_384 }

  test("loses nothing", async () => {
    await using client = quickClient(url, { limits: { queueBytes: 65_536 } })
    const execution = await client.execute({
      argv,
      budget: { bytes: 200_000, policy },
      encoding: "binary",
    })

    const { kinds, hashes, completed } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe(completed.hashes?.stdout ?? "")
  })

  test("gets every byte of 20 MB", async () => {
    await using client = quickClient(url, { limits })
    const execution = await client.execute({ argv: noise, budget, encoding: "binary" })

    const { kinds, hashes } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(noise)).stdout.hash)
  }, 60_000)

  test.each(["utf8", "base64"] as const)(
    "gets every byte in %s as well",
    async (encoding) => {
      await using client = quickClient(url, { limits })
      const execution = await client.execute({ argv, budget, encoding })

      const { kinds, hashes } = await followSlowly(client, execution)

      expect(kinds).toEqual(["started", "completed"])
      expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
    },
    30_000,
  )

  test.each([1, 2, 3])(
    "gets every byte although cut anywhere (seed %i)",
    async (seed) => {
      const random = seededRandom(seed)
      const cuts = Array.from({ length: 100 }, () => random(400_000))
      using proxy = new CuttingProxy(Number(new URL(url).port), cuts)
      await using client = quickClient(proxy.url, { limits })
      const execution = await client.execute({ argv: noise, budget, encoding: "binary" })

      const { kinds, hashes } = await followSlowly(client, execution)

      expect(proxy.connections).toBeGreaterThan(cuts.length / 2)
      expect(kinds).toEqual(["started", "completed"])
      expect(hashes.stdout).toBe((await runIndependently(noise)).stdout.hash)
    },
    60_000,
  )

  test("gets every byte although the gateway dies", async () => {
    await using ownService = await Service.start()
    await using client = quickClient(await ownService.url(), { limits })
    const execution = await client.execute({ argv: noise, budget, encoding: "binary" })
    let deaths = 0

    const { kinds, hashes } = await followSlowly(client, execution, (bytes) => {
      if (bytes < (deaths + 1) * 5_000_000) return
      deaths += 1
      process.kill(ownService.gatewayPid, "SIGKILL")
    })

    expect(deaths).toBeGreaterThanOrEqual(3)
    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(noise)).stdout.hash)
  }, 60_000)

  test("gets every byte where the service's own settings make the child wait", async () => {
    const flags = { "budget-policy": "block", "budget-bytes": "65536" }
    await using ownService = await Service.start({ flags })
    await using client = quickClient(await ownService.url(), { limits })
    const execution = await client.execute({ argv, encoding: "binary" })

    const { kinds, hashes } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
  }, 30_000)

  test("gets every byte of what somebody else started", async () => {
    using starter = await StreamClient.connect(url)
    const { id } = await starter.execute({ argv, budget, acknowledges: true })
    starter.cut()
    await using client = quickClient(url, { limits })
    const execution = await client.attach(id, { role: "driver", encoding: "binary" })

    const { kinds, hashes } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
  }, 30_000)
})

describe("a user of the library who takes no output", () => {
  const budget = { bytes: 65_536, policy } as const

  test("makes the child wait, until it does", async () => {
    await using client = quickClient(url)
    const execution = await client.execute({ argv, budget, encoding: "binary" })
    using observer = await StreamClient.connect(url)
    const waiting = await untilBlocked(observer, execution.id)

    const { kinds, completed } = await followToEnd(execution)

    expect(waiting.bytes.stdout).toBeLessThan(completed.bytes.stdout)
    expect(kinds).toEqual(["started", "completed"])
  })

  test("holds up nothing when it ignores it", async () => {
    await using client = quickClient(url)
    const execution = await client.execute({ argv, budget }, { output: "ignore" })

    const completed = await execution.ended

    expect(completed).toMatchObject({ exit_code: 0, lines: { stdout: 400_000 } })
  })
})

/** Takes an event, and asks for something before the next. */
function followSlowly(
  client: Client,
  execution: RemoteExecution,
  taken: (bytes: number) => void = () => undefined,
) {
  const output = async function* () {
    for await (const event of execution.output()) {
      yield event
      await client.call("list", { limit: 1 })
    }
  }
  return followToEnd({ output, ended: execution.ended }, taken)
}

async function untilBlocked(client: StreamClient, id: string) {
  return until("the child waits", async () => {
    const view = await client.call("status", { execution_id: id })
    return view.blocked && view
  })
}
