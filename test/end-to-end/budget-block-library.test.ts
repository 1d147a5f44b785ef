import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Client } from "../../src/client/connect.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import { CuttingProxy } from "../support/cutting-proxy.ts"
import { followToEnd } from "../support/followed-output.ts"
import { quickClient } from "../support/following.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
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
const budget = { bytes: 65_536, policy } as const

describe("a slow user of the library, whose budget is smaller than a socket", () => {
  const noiseBytes = byScale({ short: 4_000_000, full: 20_000_000, long: 20_000_000 })
  const noise = fixture("noise.ts", noiseBytes)
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

  test(`gets every byte of ${noiseBytes / 1e6} MB`, async () => {
    await using client = quickClient(url, { limits })
    const execution = await client.execute({ argv: noise, budget, encoding: "binary" })

    const { kinds, hashes } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(noise)).stdout.hash)
  }, 60_000)

  test.each(fewIfShort(1, ["utf8", "base64"] as const))(
    "gets every byte in %s as well",
    async (encoding) => {
      await using client = quickClient(url, { limits })
      const execution = await client.execute({ argv, budget, encoding })

      const { kinds, hashes } = await followSlowly(client, execution)

      expect(kinds).toEqual(["started", "completed"])
      expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
    },
    60_000,
  )

  test.each(fewIfShort(1, [1, 2, 3]))(
    "gets every byte although cut anywhere (seed %i)",
    async (seed) => {
      const random = seededRandom(seed)
      const cuts = Array.from({ length: 100 }, () => random(noiseBytes / 50))
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
      if (bytes < ((deaths + 1) * noiseBytes) / 4) return
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
  }, 60_000)

  test("gets every byte of what somebody else started", async () => {
    using starter = await StreamClient.connect(url)
    const { id } = await starter.execute({ argv, budget, acknowledges: true })
    starter.cut()
    await using client = quickClient(url, { limits })
    const execution = await client.attach(id, { role: "driver", encoding: "binary" })

    const { kinds, hashes } = await followSlowly(client, execution)

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
  }, 60_000)
})

describe("a user of the library who takes what comes", () => {
  const tight = [{ bytes: 1024 }, { bytes: 40_000 }, { lines: 1 }, { bytes: 200_000, lines: 1000 }]

  test.each(fewIfShort(2, tight))(
    "keeps no child waiting for ever, nor loses anything: %o",
    async (small) => {
      await using client = quickClient(url)
      const execution = await client.execute({ argv, budget: { ...small, policy } })

      const { kinds, hashes } = await followToEnd(execution)

      expect(kinds).toEqual(["started", "completed"])
      expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
    },
  )
})

describe("a user of the library who takes no output", () => {
  test("makes the child wait, until it does", async () => {
    await using client = quickClient(url)
    const execution = await client.execute({ argv, budget, encoding: "binary" })
    const waiting = await until("the child waits", async () => {
      const view = await client.call("status", { execution_id: execution.id })
      return view.blocked && view
    })

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
