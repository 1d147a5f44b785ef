import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { fewIfShort } from "../support/scale.ts"
import { isRunning, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const counting = ["sh", "-c", "i=0; while :; do echo $i; i=$((i+1)); sleep 0.2; done"]
const listensOn = /took over these settings and listens on (http:\/\/\S+:(\d+));/

/** A command line whose `run` has started a service, and an execution there. */
async function withExecution(env: Record<string, string> = {}) {
  const line = new CommandLine()
  const started = await line.run(["run", "-d", "--", ...counting], { env })
  const id = started.stdout.trim()
  return { line, id, pid: line.keeperPid }
}

/** One for all that leave it as it was; its execution goes on through all of them. */
const unchanged = () => (shared ??= withExecution())
let shared: ReturnType<typeof withExecution> | null = null
afterAll(async () => (await shared)?.line[Symbol.asyncDispose]())

/** Goes on counting without a gap, from here on too. */
async function expectGoesOn(line: CommandLine, id: string): Promise<void> {
  const before = (await line.stdout("logs", id)).split("\n").length
  await using followed = line.start("logs", "-f", id)
  const counted = await until("it goes on", () => {
    const lines = followed.stdout.split("\n").slice(0, -1)
    return lines.length > before ? lines : null
  })
  expect(counted).toEqual(counted.map((_, index) => `${index}`))
}

describe("serve, while a service that `run` has started runs something", () => {
  test("gives it its settings and its port; everything continues", async () => {
    const { line, id, pid } = await withExecution({ CC_EXECUTOR_MAX_EXECUTIONS: "3" })
    await using _line = line

    const served = await line.run(["serve", "--port", "0"], { env: { LOG_LEVEL: "debug" } })

    expect(served).toMatchObject({ exitCode: 0, stderr: "" })
    expect(served.stdout).toContain(`(pid ${pid}) took over`)
    expect(served.stdout).toContain("; 1 execution continues.\n")
    expect(served.stdout).toContain("`cc-executor stop` ends it.")
    const [, url = ""] = listensOn.exec(served.stdout) ?? []
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect(line.keeperPid).toBe(pid)
    await expectGoesOn(line, id)
    // What that `run` had in its environment was not meant by this `serve`.
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    expect(args).toContain("--log-level=debug")
    expect(args.join(" ")).not.toContain("max-executions")

    const upgraded = await line.stdout("upgrade")
    expect(upgraded).toContain("1 execution continues")
    expect((await fetch(`${url}/health`)).status).toBe(200)
    await expectGoesOn(line, id)

    expect((await line.run(["stop"])).exitCode).toBe(0)
    expect(isRunning(pid)).toBe(false)
    expect(await fetch(`${url}/health`).catch(() => null)).toBeNull()
  })

  test("says what the service would have said, and logs where it was told to", async () => {
    const { line, id } = await withExecution()
    await using _line = line
    using folder = temporaryFolder()
    const log = join(folder.path, "own.log")
    const network = ["--host", "0.0.0.0", "--make-token", "--port=0"]

    const served = await line.run(["serve", ...network, "--log-file", log])

    expect(served.exitCode).toBe(0)
    expect(served.stderr).toContain("clear text")
    expect(served.stderr).toContain("To show it: cc-executor token show")
    expect(served.stdout).toContain(`Its log is ${log}.`)
    expect(readFileSync(log, "utf8")).toContain("service ready")
    await expectGoesOn(line, id)
  })

  test("waits for one that a `run` is just starting", async () => {
    await using line = new CommandLine()
    await using run = line.start("run", "-d", "--", ...counting)
    await until("it is being started", () => existsSync(join(line.stateDir, "service.log")))

    const served = await line.run(["serve", "--port", "0"])

    expect(served).toMatchObject({ exitCode: 0, stderr: "" })
    expect(served.stdout).toMatch(listensOn)
    expect(await run.exited).toBe(0)
    await expectGoesOn(line, run.stdout.trim())
  })

  test("two at once get their turn, and the service has the settings of the last", async () => {
    const { line, id, pid } = await withExecution()
    await using _line = line

    const both = await Promise.all([
      line.run(["serve", "--port", "0", "--grace", "1s"]),
      line.run(["serve", "--port", "0", "--grace", "2s"]),
    ])

    for (const { exitCode, stdout } of both) {
      expect(exitCode).toBe(0)
      expect(stdout).toContain(`(pid ${pid}) took over`)
    }
    // A port that the system chose is kept: the first did not say what is no longer true.
    const [one, other] = both.map(({ stdout }) => listensOn.exec(stdout)?.[1])
    expect(one).toBe(other ?? "")
    expect((await fetch(`${one}/health`)).status).toBe(200)
    await expectGoesOn(line, id)
  })
})

describe("serve that cannot be taken over leaves the service in the background as it was:", () => {
  test("a port that is taken", async () => {
    const { line, id, pid } = await withExecution()
    await using _line = line
    using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("mine") })

    const served = await line.run(["serve", "--port", `${taken.port}`])

    expect(served).toMatchObject({ exitCode: 1, stdout: "" })
    expect(served.stderr).toContain(`port ${taken.port} is in use by another program`)
    expect(served.stderr).toContain(`(pid ${pid}) continues with the settings it had`)
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("--port=none")
    await expectGoesOn(line, id)
    expect((await line.run(["serve", "--port", "0"])).exitCode).toBe(0)
    await expectGoesOn(line, id)
  })

  test("a value that is not valid", async () => {
    const { line, id } = await unchanged()

    const flag = await line.run(["serve", "--port", "abc"])
    const variable = await line.run(["serve"], { env: { CC_EXECUTOR_GRACE: "never" } })

    expect(flag).toMatchObject({ exitCode: 2, stdout: "" })
    expect(flag.stderr).toContain('--port: "abc" is not valid')
    expect(variable.exitCode).toBe(2)
    expect(variable.stderr).toContain("CC_EXECUTOR_GRACE")
    await expectGoesOn(line, id)
  })

  const files = temporaryFolder()
  afterAll(() => files[Symbol.dispose]())
  const patterns = join(files.path, "redact")
  writeFileSync(patterns, "one = abc\n")

  const wrong: [string, string, string][] = [
    ["a file that is not there", "--tls-cert=/no/such --tls-key=/no/such", "--tls-cert /no/such"],
    ["an address of another machine", "--host=192.0.2.77 --make-token", "192.0.2.77"],
    ["a containment that it does not have", "--containment=MODE", "--containment"],
    ["patterns for what is half recorded", `--redact-file=${patterns}`, "--redact-file"],
    ["no token for the network", "--host=0.0.0.0", "could not authenticate"],
    ["a log file in no directory", "--log-file=/dev/null/log", "The log file /dev/null/log"],
  ]
  test.each(fewIfShort(3, wrong))("%s", async (_, flags, why) => {
    // What one makes for the network, even in vain, would be there for the next.
    const isForNetwork = flags.includes("--host")
    const { line, id, pid } = await (isForNetwork ? withExecution() : unchanged())
    await using _own = isForNetwork ? line : null
    const { containment } = JSON.parse(await line.stdout("inspect", id, "--json"))
    const other = containment === "cgroup" ? "best-effort" : "cgroup"

    const served = await line.run(["serve", ...flags.replace("MODE", other).split(" "), "--port=0"])

    expect(served).toMatchObject({ exitCode: 1, stdout: "" })
    expect(served.stderr).toContain(why)
    expect(line.keeperPid).toBe(pid)
    await expectGoesOn(line, id)
  })
})

describe("serve does not change a service that somebody else answers for:", () => {
  test("one that a person has started is left alone, and the way is named", async () => {
    await using line = new CommandLine()
    await using service = await Service.start({ stateDir: line.stateDir })

    const served = await line.run(["serve", "--port", "0"])

    expect(served.exitCode).toBe(1)
    expect(served.stderr).toContain(`started with \`cc-executor serve\` (pid ${service.pid})`)
    expect(served.stderr).toContain("run `cc-executor stop`, which ends its executions")
    expect(served.stderr).toContain("--state-dir")
    expect(service.log.some((one) => one.includes("upgrade requested"))).toBe(false)
  })

  test("one of a service manager names its unit's command", async () => {
    await using line = new CommandLine()
    const env = { NOTIFY_SOCKET: "/no/such/socket" }
    await using _service = await Service.start({ stateDir: line.stateDir, env })

    const { exitCode, stderr } = await line.run(["serve", "--port", "0"])

    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/edit its unit and run `systemctl (?:--user )?restart \S+`/)
  })

  test("and a service manager gets a process of its own, or none", async () => {
    const { line, id, pid } = await unchanged()
    const env = { NOTIFY_SOCKET: "/no/such/socket" }

    const { exitCode, stderr } = await line.run(["serve", "--port", "0"], { env })

    expect(exitCode).toBe(1)
    expect(stderr).toContain(`(pid ${pid}), and a service manager needs a process of its own`)
    await expectGoesOn(line, id)
  })
})
