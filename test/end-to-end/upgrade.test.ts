import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { expectAllTold, startFlood } from "../support/followed-flood.ts"
import { buildNextVersion, nextVersion } from "../support/next-version.ts"
import { zombiesOf } from "../support/real-processes.ts"
import { byScale } from "../support/scale.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"
import { runUpgrade, upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

let next: Awaited<ReturnType<typeof buildNextVersion>>
beforeAll(async () => {
  next = await buildNextVersion()
})
afterAll(() => next[Symbol.dispose]())

async function versionOf(service: Service): Promise<string> {
  const health = await fetch(await service.url("/health"))
  return z.object({ version: z.string() }).parse(await health.json()).version
}

describe("an upgrade during a flood with three clients", () => {
  test("costs nobody a byte: the new version answers, and the exit code is true", async () => {
    await using service = await Service.start()
    await using flood = await startFlood(service)
    const { pid } = flood.execution
    const before = await versionOf(service)

    const report = await upgraded(service, next.path)
    await flood.untilAllHaveMore()

    console.log(`output paused ${report.heldMs.toFixed(0)} ms`)
    expect(report).toMatchObject({ from: before, to: nextVersion, executions: 1, queued: 0 })
    expect(await versionOf(service)).toBe(nextVersion)
    expect(service.lockedBy).toBe(service.pid)
    expect((await flood.status()).pid).toBe(pid)
    await flood.execution.write("\n")
    await expectAllTold(flood)
  })

  const programs = () => [next.path, executable, next.path, executable, next.path]
  const times = byScale({ short: 2, full: 5, long: 5 })

  test("several times in a row leaves nothing behind: no descriptor, zombie or end", async () => {
    await using service = await Service.start()
    await using flood = await startFlood(service)
    const descriptors: number[] = []

    for (const program of programs().slice(0, times)) {
      await upgraded(service, program)
      await flood.untilAllHaveMore()
      descriptors.push(readdirSync(`/proc/${service.pid}/fd`).length)
    }
    await flood.execution.write("\n")

    await expectAllTold(flood)
    console.log(`descriptors after each: ${descriptors.join(", ")}`)
    expect(Math.max(...descriptors) - Math.min(...descriptors)).toBeLessThanOrEqual(2)
    expect(zombiesOf(service.pid)).toEqual([])
    service.kill("SIGTERM")
    expect(await service.exited).toBe(0)
  })
})

describe("a service whose file was replaced", () => {
  test("goes on with its own program when its gateway dies, until it is told", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "cc-executor")
    copyFileSync(executable, file)
    await using service = await Service.start({ executable: file })
    const before = await versionOf(service)
    const { gatewayPid } = service

    // As an installer does it: another file under the same name.
    const { exitCode } = Bun.spawnSync(["install", next.path, file])
    process.kill(gatewayPid, "SIGKILL")
    await until("the gateway is gone", () => !isRunning(gatewayPid))
    await until(
      "another answers",
      async () => (await versionOf(service).catch(() => null)) !== null,
    )

    expect(exitCode).toBe(0)
    expect(await versionOf(service)).toBe(before)
    const { stdout } = Bun.spawnSync([file, "upgrade", "--state-dir", service.stateDir])
    expect(stdout.toString()).toContain(`upgraded from ${before} to ${nextVersion}`)
    expect(await versionOf(service)).toBe(nextVersion)
  })

  test("changes at a signal alone, too", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "cc-executor")
    copyFileSync(executable, file)
    await using service = await Service.start({ executable: file })
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell("read go; exit 9"), stdin: "pipe" })
    Bun.spawnSync(["install", next.path, file])

    service.kill("SIGUSR2")

    await until("the new version", async () => {
      return (await versionOf(service).catch(() => null)) === nextVersion
    })
    await run.execution.write("\n")
    expect(await run.ended()).toMatchObject({ exit_code: 9 })
  })
})

describe("the record of an upgrade", () => {
  test("is in the log and in the audit trail, which still verifies", async () => {
    await using service = await Service.start()
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell("read go"), stdin: "pipe" })

    const { exitCode, stdout } = await runUpgrade(service, next.path)
    await run.execution.write("\n")
    await run.ended()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^The service \(pid \d+\) was upgraded from \S+ to 9\.9\.9: 1 execution /,
    )
    const lines = service.log.map((line) => JSON.parse(line).msg)
    expect(lines).toContain("service handing over")
    expect(lines).toContain("service upgraded")
    const audit = Bun.spawnSync([executable, "audit", "--state-dir", service.stateDir, "--verify"])
    expect(audit.exitCode).toBe(0)
    const trail = readFileSync(join(service.stateDir, "audit", "00000001.jsonl"), "utf8")
    expect(trail).toContain(`"handed_over":1`)
  })
})
