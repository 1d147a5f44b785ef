import { describe, expect, test } from "bun:test"
import { expectAllTold, startFlood } from "../support/followed-flood.ts"
import { followToEnd, libraryClient } from "../support/followed-output.ts"
import { runIndependently } from "../support/independent-run.ts"
import { byScale } from "../support/scale.ts"
import { isRunning, Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

const hangMs = byScale({ short: 1000, full: 3000, long: 3000 })
/** What a child writes whose budget blocks, compared with the full run. */
const share = byScale({ short: 0.25, full: 1, long: 1 })
const mostDeaths = byScale({ short: 2, full: 10, long: 10 })

describe("a gateway that dies during a flood, with three clients", () => {
  test.each(["SIGKILL", "SIGTERM"] as const)(
    "by %s: nobody misses a byte",
    async (signal) => {
      await using service = await Service.start()
      await using flood = await startFlood(service)
      const { pid } = flood.execution

      const backAfterMs = await endGateway(service, signal)
      await flood.untilAllHaveMore()
      const { pid: pidAfter } = await flood.status()
      await flood.execution.write("\n")

      console.log(`gateway back ${backAfterMs.toFixed(0)} ms after ${signal}`)
      expect(backAfterMs).toBeLessThan(20_000)
      expect(pidAfter).toBe(pid)
      await expectAllTold(flood)
    },
    60_000,
  )

  test("again and again: nobody misses a byte", async () => {
    await using service = await Service.start()
    await using flood = await startFlood(service)

    for (let deaths = 1; deaths <= mostDeaths; deaths += 1) {
      const backAfterMs = await endGateway(service, "SIGKILL")
      console.log(`death ${deaths}: gateway back after ${backAfterMs.toFixed(0)} ms`)
    }
    await flood.untilAllHaveMore()
    await flood.execution.write("\n")

    await expectAllTold(flood)
  }, 90_000)
})

describe(`a gateway that hangs for ${hangMs} ms`, () => {
  test("holds up no child, and nobody misses a byte", async () => {
    await using service = await Service.start()
    await using flood = await startFlood(service)
    const { gatewayPid } = service
    const { pid } = flood.execution
    const stoppedAtMs = performance.now()
    process.kill(gatewayPid, "SIGSTOP")

    const before = await writtenBy(pid)
    await until("it has hung", () => performance.now() - stoppedAtMs > hangMs)
    await until("the child went on", async () => (await writtenBy(pid)) > before + 5_000_000)
    process.kill(gatewayPid, "SIGCONT")
    await flood.untilAllHaveMore()
    await flood.execution.write("\n")

    expect(service.gatewayPid).toBe(gatewayPid)
    await expectAllTold(flood)
  }, 60_000)
})

describe("a gateway that dies", () => {
  test("takes no execution with it that nobody follows", async () => {
    await using service = await Service.start()
    using starter = await StreamClient.connect(await service.url())
    const argv = ["/bin/sh", "-c", "echo before; read go; echo after; exit 5"]
    const { id, output } = await starter.execute({ argv, stdin: "pipe" })
    await until("the first line", () => output.tail("stdout") === "before\n")

    await endGateway(service, "SIGKILL")
    using client = await StreamClient.connect(await service.url())
    const received = await client.attach({ execution_id: id })
    await client.call("input", { execution_id: id, data: "\n" })
    const completed = await received.completed

    expect(received.tail("stdout")).toBe("before\nafter\n")
    expect(completed.exit_code).toBe(5)
  }, 60_000)

  test("is waited for by a child whose budget blocks, until its driver is back", async () => {
    await using service = await Service.start()
    await using client = libraryClient(await service.url())
    const argv = ["seq", "1", `${20_000_000 * share}`]
    const budget = { bytes: 70_000_000 * share, policy: "block" } as const
    const execution = await client.execute({ argv, budget, encoding: "binary" })
    let taken = 0
    const end = followToEnd(execution, (bytes) => {
      taken = bytes
    })

    for (const wanted of [10_000_000, 60_000_000, 110_000_000]) {
      await until(`${wanted * share} bytes`, () => taken > wanted * share)
      await endGateway(service, "SIGKILL")
    }
    const { kinds, hashes, completed } = await end

    expect(kinds).toEqual(["started", "completed"])
    expect(hashes.stdout).toBe((await runIndependently(argv)).stdout.hash)
    expect(completed.exit_code).toBe(0)
  }, 60_000)

  test("is made up for by the library: what was asked meanwhile is done, once", async () => {
    await using service = await Service.start()
    await using client = libraryClient(await service.url())
    await client.connected

    process.kill(service.gatewayPid, "SIGKILL")
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client.execute({ command: `echo ${index}` })),
    )
    const ends = await Promise.all(asked.map((execution) => execution.ended))
    const { executions } = await client.call("list", {})

    expect(ends.map(({ exit_code }) => exit_code)).toEqual(asked.map(() => 0))
    expect(executions).toHaveLength(20)
  }, 60_000)
})

/** Ends the gateway; answers how long it took until another one greeted. */
async function endGateway(service: Service, signal: NodeJS.Signals): Promise<number> {
  const url = await service.url()
  const { gatewayPid } = service
  const killedAtMs = performance.now()
  process.kill(gatewayPid, signal)
  await until("the gateway is gone", () => !isRunning(gatewayPid))
  await until("a new gateway greets", async () => {
    using client = new StreamClient(url)
    return await client.greeting.then(
      () => true,
      () => false,
    )
  })
  return performance.now() - killedAtMs
}

async function writtenBy(pid: number | null): Promise<number> {
  const io = await Bun.file(`/proc/${pid}/io`).text()
  return Number(/^wchar: (\d+)$/m.exec(io)?.[1])
}
