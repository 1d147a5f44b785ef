import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { isRunning, Service } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const sleeper = ["sh", "-c", "echo ready; exec sleep 1000"]
const stubborn = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]

describe("the service of a command line", () => {
  test("is ended by stop, with everything it runs", async () => {
    await using line = new CommandLine()
    await line.run(["run", "-d", "--", ...sleeper])
    await line.run(["run", "-d", "--", ...stubborn])
    const views = JSON.parse(await line.stdout("ps", "--json")).executions
    const pids = [line.keeperPid, line.gatewayPid, ...views.map(({ pid }: { pid: number }) => pid)]

    expect((await line.run(["stop", "--now"])).exitCode).toBe(0)

    expect(pids.filter(isRunning)).toEqual([])
    expect((await line.run(["healthcheck"])).exitCode).toBe(1)
    expect((await line.run(["ps"])).stderr).toContain("No service is running")
    expect(existsSync(join(line.stateDir, "gateway.sock"))).toBe(false)
    expect(await line.stdout("ps", "-a")).toContain("shutdown")
    expect((await line.run(["healthcheck"])).exitCode).toBe(0)
  })

  test("that cannot start says why", async () => {
    await using line = new CommandLine()

    const { exitCode, stderr } = await line.run(["run", "--", "true"], {
      env: { CC_EXECUTOR_GRACE: "never" },
    })

    expect(exitCode).toBe(125)
    expect(stderr).toContain('The service cannot be started. CC_EXECUTOR_GRACE: "never"')
  })

  test("that has just died is followed by the next one", async () => {
    await using line = new CommandLine()
    await line.run(["run", "-d", "--", ...sleeper])
    const { gatewayPid } = line

    // Its gateway does not know yet that it is alone, when somebody comes.
    process.kill(gatewayPid, "SIGSTOP")
    process.kill(line.keeperPid, "SIGKILL")
    await using run = line.start("run", "--", "echo", "hello")
    await until("it has come to the gateway", () => hasOpen(run.pid, "gateway.sock"))
    process.kill(gatewayPid, "SIGCONT")

    expect(await run.exited).toBe(0)
    expect(run.stdout).toBe("hello\n")
    expect(await line.stdout("ps", "-a")).toContain("lost")
  })

  test("may be anywhere, by its address", async () => {
    await using line = new CommandLine()
    await using service = await Service.start()
    const url = await service.url()

    const { stdout } = await line.run([
      "run",
      "--url",
      url,
      "-e",
      "A=1",
      "--",
      "sh",
      "-c",
      "echo $A",
    ])

    expect(stdout).toBe("1\n")
    expect(await line.stdout("ps", "-a", "--url", url.replace("ws:", "http:"))).toContain("echo $A")
    expect(existsSync(join(line.stateDir, "lock"))).toBe(false)
  })

  test("refuses what its allow-list does not have, whatever the environment", async () => {
    await using line = new CommandLine()
    const env = { ALLOWED_COMMANDS: "echo" }

    expect(await line.run(["run", "--", "echo", "fine"], { env })).toMatchObject({
      stdout: "fine\n",
    })
    const refused = await line.run(["run", "--", "id"])
    expect(refused.exitCode).toBe(125)
    expect(refused.stderr).toContain("allow-list")
  })

  test("is examined by doctor, running or not", async () => {
    await using line = new CommandLine()
    const before = JSON.parse(await line.stdout("doctor", "--json")).findings
    await line.run(["run", "--", "true"])
    const after = await line.stdout("doctor")

    expect(before.map(({ name }: { name: string }) => name)).toContain("containment")
    expect(after).toMatch(/^ok {4}service +running: pid \d+/m)
    expect(after).toMatch(/^ok {4}receipt key .* mode 0600$/m)
  })
})

function hasOpen(pid: number, name: string): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((fd) => linkOf(join(folder, fd)).endsWith(name))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return "" // closed meanwhile
  }
}
