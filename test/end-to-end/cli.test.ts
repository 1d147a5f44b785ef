import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const sleeper = ["sh", "-c", "echo ready; exec sleep 1000"]
const stubborn = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]

/** Shared by all that leave its service as it was. */
const line = new CommandLine()
afterAll(() => line[Symbol.asyncDispose]())
/** What a test has left running, by the label that it gave. */
const live = (label: string) => line.stdout("ps", "-q", "--label", label)
afterEach(() => cancelAll(line))

describe("run", () => {
  test("exits as the command does, and tells the streams apart", async () => {
    const script = "printf out; printf err >&2; exit 7"
    const { exitCode, stdout, stderr } = await line.run(["run", "--", "sh", "-c", script])

    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 7, stdout: "out", stderr: "err" })
  })

  test("says how it ended by the exit code", async () => {
    const exitCode = async (...argv: string[]) => (await line.run(["run", ...argv])).exitCode

    expect(await exitCode("--", "sh", "-c", "kill -9 $$")).toBe(137)
    expect(await exitCode("--timeout", "200ms", "--", "sleep", "1000")).toBe(124)
    expect(await exitCode("--idle-timeout", "200ms", "--", "sleep", "1000")).toBe(124)
    expect(await exitCode("--", "no-such-program")).toBe(127)
    expect(await exitCode("--", "/etc/passwd")).toBe(126)
    expect(await exitCode("--no-such-option", "--", "true")).toBe(2)
    expect(await exitCode("--shell", "exit 3 | exit 4")).toBe(4)
  })

  test("passes megabytes of random bytes in and out, and to the other stream", async () => {
    const input = randomBytes(byScale({ short: 3_000_000, full: 10_000_000, long: 10_000_000 }))
    const file = join(line.stateDir, "random")
    writeFileSync(file, input)

    const piped = await line.run(["run", "--", "cat"], { input })
    const copied = await line.run(["run", "--", "sh", "-c", `cat ${file} >&2; cat ${file}`])

    expect(piped.exitCode).toBe(0)
    expect(Bun.SHA256.hash(piped.bytes, "hex")).toBe(Bun.SHA256.hash(input, "hex"))
    expect(Bun.SHA256.hash(copied.bytes, "hex")).toBe(Bun.SHA256.hash(input, "hex"))
    expect(copied.stderr).toBe(input.toString("utf8"))
  })

  test("takes this shell's directory and environment along", async () => {
    const script = 'echo "$PWD $COLOUR ${CC_EXECUTOR_STATE_DIR-none} ${BUN_OPTIONS-none}"'
    const options = { cwd: "/usr/bin", env: { COLOUR: "blue" } }

    const { stdout } = await line.run(["run", "--", "sh", "-c", script], options)

    expect(stdout).toBe("/usr/bin blue none none\n")
  })

  test("ends with its reader, and so does the command", async () => {
    const { exitCode, stdout, stderr } = await line.runOther([
      "sh",
      "-c",
      "$PROGRAM run -l of=reader -- yes | head -n 1",
    ])

    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "y\n", stderr: "" })
    await until("nothing runs", async () => (await live("of=reader")) === "")
  })

  test("starts one service, however many begin at once", async () => {
    await using own = new CommandLine()

    const runs = Array.from({ length: 5 }, (_, index) => own.run(["run", "--", "echo", `${index}`]))
    const finished = await Promise.all(runs)

    expect(finished.map(({ stdout }) => stdout)).toEqual(["0\n", "1\n", "2\n", "3\n", "4\n"])
    const log = await Bun.file(join(own.stateDir, "service.log")).text()
    expect(log.match(/"service ready"/g)).toHaveLength(1)
  })

  test("goes on when the gateway dies, without a gap", async () => {
    await using own = new CommandLine()
    await own.run(["run", "--", "mkfifo", "fifo"])
    await using run = own.start("run", "--", "sh", "-c", "echo first; read x < fifo; seq 1 20000")
    await run.untilSays("first")

    process.kill(own.gatewayPid, "SIGKILL")
    await own.run(["run", "--", "sh", "-c", "echo go > fifo"])

    expect(await run.exited).toBe(0)
    const numbers = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("")
    expect(run.stdout).toBe(`first\n${numbers}`)
  })

  test("tells when the service is gone for good", async () => {
    await using own = new CommandLine()
    await using run = own.start("run", "--", ...sleeper)
    await run.untilSays("ready")

    process.kill(own.keeperPid, "SIGKILL")

    expect(await run.exited).toBe(125)
    expect(run.stderr).toContain("has ended. Run `cc-executor ps -a` to start a new one")
    expect(await own.stdout("ps", "-a")).toContain("lost")
  })
})

describe("Ctrl-C", () => {
  test("cancels, and the exit code says so", async () => {
    await using run = line.start("run", "-l", "of=cancels", "--", ...sleeper)
    await run.untilSays("ready")
    expect(await live("of=cancels")).not.toBe("")

    run.kill("SIGINT")

    expect(await run.exited).toBe(130)
    expect(run.stderr).toContain("canceling")
    expect(await live("of=cancels")).toBe("")
    expect(await line.stdout("ps", "-a", "--label", "of=cancels")).toContain("canceled")
  })

  test("twice detaches and says how to come back", async () => {
    await using run = line.start("run", "--", ...stubborn)
    await run.untilSays("ready")

    run.kill("SIGINT")
    await run.untilSays("canceling")
    run.kill("SIGINT")

    expect(await run.exited).toBe(130)
    const id = /cc-executor attach (\w+)/.exec(run.stderr)?.[1] ?? ""
    const attached = await line.run(["attach", id])
    expect(attached).toMatchObject({ exitCode: 130, stdout: "ready\n" })
  })

  test("only leaves what another has started, after a word of how to cancel it", async () => {
    const id = await line.stdout("run", "-d", "-l", "of=another", "--", ...sleeper)
    await using attached = line.start("attach", id)
    await attached.untilSays("ready")

    attached.kill("SIGINT")

    expect(await attached.exited).toBe(130)
    expect(attached.stderr).toContain(`cancel it with: cc-executor cancel ${id.slice(0, 8)}`)
    expect(await line.stdout("ps", "-q", "--state", "running", "--label", "of=another")).toBe(id)
  })

  test("is not what SIGTERM and SIGHUP mean: the execution goes on", async () => {
    for (const [signal, exitCode] of [
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const) {
      await using run = line.start("run", "-l", "of=told", "--", ...sleeper)
      await run.untilSays("ready")
      run.kill(signal)
      expect(await run.exited).toBe(exitCode)
    }
    const running = await line.stdout("ps", "-q", "--state", "running", "--label", "of=told")
    expect(running.split("\n")).toHaveLength(2)
  })
})

describe("an execution in the background", () => {
  test("is listed, steered, waited for, proven and removed", async () => {
    const script = "while read line; do echo got $line; done; echo bye >&2; exit 5"
    const id = await line.stdout("run", "-d", "-i", "--name", "web", "--", "sh", "-c", script)
    const short = id.slice(0, 8)

    expect(await line.stdout("ps", "--label", "name=web")).toContain(`${short}  running`)
    await line.run(["pause", short])
    expect(await line.stdout("ps", "--label", "name=web")).toContain("paused")
    await line.run(["resume", short])
    await line.run(["send", short, "hello", "world"])
    await line.run(["send", "--end", short, "-"], { input: "from a pipe\n" })

    expect((await line.run(["wait", short])).exitCode).toBe(5)
    expect(await line.run(["logs", short])).toMatchObject({
      stdout: "got hello world\ngot from a pipe\n",
      stderr: "bye\n",
    })
    expect(await line.stdout("logs", "--stream", "stdout", "--tail", "1", short)).toBe(
      "got from a pipe",
    )
    expect(await line.run(["logs", "--search", "FROM A", short])).toMatchObject({
      stdout: "2:got from a pipe\n",
      stderr: "",
      exitCode: 0,
    })
    expect(await line.run(["logs", "--search", "got", "--stream", "stderr", short])).toMatchObject({
      stdout: "",
      exitCode: 1,
    })
    expect((await line.run(["logs", "--search", "x", "-f", short])).stderr).toContain("not with -f")
    expect(await line.stdout("receipt", short)).toMatch(/outcome +exited with 5/)
    expect(await line.stdout("verify", "--contains", "got hello world", short)).toContain(
      "verified",
    )
    expect((await line.run(["verify", "--contains", "got nothing", short])).exitCode).toBe(1)

    expect((await line.run(["rm", short])).exitCode).toBe(0)
    const gone = await line.run(["logs", short])
    expect(gone.exitCode).toBe(1)
    expect(gone.stderr).toContain(`Unknown execution: "${short}"`)
  })

  test("is followed by logs -f to its end, also from its last lines", async () => {
    const id = await line.stdout("run", "-d", "-i", "--", "sh", "-c", "seq 1 100; cat")
    await until("all is written", async () => (await line.stdout("logs", id)).endsWith("100"))

    await using logs = line.start("logs", "-f", "--tail", "2", id)
    await logs.untilSays("99\n100\n")
    await line.run(["send", "--end", id, "last"])

    expect(await logs.exited).toBe(0)
    expect(logs.stdout).toBe("99\n100\nlast\n")
  })

  test("is named by an unambiguous beginning of its id", async () => {
    await line.run(["run", "--", "true"]) // starts the service, if there is none yet
    const socket = `ws+unix://${line.stateDir}/gateway.sock:/ws/mcp`
    using session = await RawSession.open(socket)
    const runs = Array.from({ length: 33 }, () => session.call("execute", { argv: ["true"] }))
    const ids = (await Promise.all(runs)).map(({ execution_id }) => execution_id).toSorted()
    const first = ids.find((id, index) => ids[index + 1]?.startsWith(id.charAt(0)))?.charAt(0) ?? ""

    const { exitCode, stderr } = await line.run(["logs", first])

    expect(exitCode).toBe(1)
    expect(stderr).toContain(`Several executions begin with ${first}`)
  })

  test("is pruned once it has ended, never before", async () => {
    await using own = new CommandLine()
    await own.run(["run", "--", "true"])
    const running = await own.stdout("run", "-d", "--", ...sleeper)

    expect((await own.run(["prune", "--all"])).stderr).toContain("Use --force")
    expect((await own.run(["prune", "--force"])).stderr).toContain(
      "Use --all to remove them anyway",
    )
    expect((await own.run(["prune", "--all", "--force"])).stderr).toContain("Removed 1 ended")
    expect(await own.stdout("ps", "-a", "-q")).toBe(running)
  })
})
