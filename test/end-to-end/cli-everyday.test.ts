import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { executable, Service } from "../support/service.ts"

setDefaultTimeout(60_000)

const line = new CommandLine()
afterAll(() => line[Symbol.asyncDispose]())
beforeEach(() => cancelAll(line))

const sleeper = () => line.stdout("run", "-d", "--", "sleep", "1000")
const short = (id: string) => id.slice(0, 8)

describe("wait", () => {
  test("on several fails if one did, says which, and exits as the first of them", async () => {
    const codes = [0, 3, 0, 4]
    const started = codes.map((code) => line.stdout("run", "-d", "--", "sh", "-c", `exit ${code}`))
    const ids = await Promise.all(started)
    const [fine = "", three = "", , four = ""] = ids

    const { exitCode, stderr } = await line.run(["wait", ...ids, fine])

    expect(exitCode).toBe(3)
    expect(stderr.trim().split("\n")).toEqual([
      `cc-executor: ${short(three)} ended with exit code 3.`,
      `cc-executor: ${short(four)} ended with exit code 4.`,
    ])
    expect((await line.run(["wait", fine, fine])).exitCode).toBe(0)
  })

  test("--any exits as the first that ends does, however often each is named", async () => {
    const [other, id] = [await sleeper(), await line.stdout("run", "-d", "-i", "--", "cat")]
    await using waiting = line.start("wait", "--any", id, other, short(id), id)
    await line.stdout("send", "--end", id, "bye")

    expect(await waiting.exited).toBe(0)
    expect(waiting.stdout).toBe(`${id}\n`)
    expect(waiting.stderr).toBe("")
  })

  test("--any without ids takes what is live, and says when nothing is", async () => {
    const nothing = await line.run(["wait", "--any"])
    const id = await sleeper()
    const argv = [executable, "wait", "--any"]
    await using waiting = new Terminal(argv, line.env({ TERM: "xterm" }), { cols: 80, rows: 24 })
    await waiting.untilShows(/waiting…/)
    await line.run(["cancel", id])

    expect(nothing).toMatchObject({ exitCode: 125 })
    expect(nothing.stderr).toContain("Nothing is running")
    expect(await waiting.exited).toBe(130)
  })
})

describe("cancel", () => {
  test("--all ends everything live, and lists it though nobody can be asked", async () => {
    const ids = [await sleeper(), await sleeper()]

    const { exitCode, stderr } = await line.run(["cancel", "--all"])

    expect(exitCode).toBe(0)
    for (const id of ids) {
      expect(stderr).toMatch(new RegExp(`^${short(id)} +running .*sleep 1000$`, "m"))
      expect(stderr).toContain(`${short(id)} canceled: 1 process ended by SIGTERM`)
    }
    expect(await line.stdout("ps", "-q")).toBe("")
    expect((await line.run(["cancel", "--all"])).stderr).toBe("Nothing to cancel.\n")
  })

  test("-l ends what has the label, and nothing else", async () => {
    const other = await sleeper()
    const mine = await line.stdout("run", "-d", "-l", "project=site", "--", "sleep", "1000")

    const { exitCode, stderr } = await line.run(["cancel", "-l", "project=site"])

    expect(exitCode).toBe(0)
    expect(stderr).toContain(`${short(mine)} canceled`)
    expect(await line.stdout("ps", "-q")).toBe(other)
  })

  test("needs either ids or a choice", async () => {
    expect((await line.run(["cancel"])).exitCode).toBe(2)
    expect((await line.run(["cancel", "--all", "a"])).exitCode).toBe(2)
  })
})

describe("what other programs call it", () => {
  test("is understood: exec, kill, list, ls, status", async () => {
    expect(await line.run(["exec", "--", "echo", "hi"])).toMatchObject({ stdout: "hi\n" })
    const id = await sleeper()

    for (const alias of ["list", "ls"]) expect(await line.stdout(alias, "-q")).toBe(id)
    expect(await line.stdout("status", id)).toMatch(new RegExp(`^Id +${id}$`, "m"))
    expect((await line.run(["kill", id])).stderr).toContain(`${short(id)} canceled`)
  })

  test("is never taken for what ends things", async () => {
    for (const word of ["stpo", "cancle", "rmm", "prunne", "token revok", "context remov"]) {
      const { exitCode, stderr } = await line.run(word.split(" "))
      expect(exitCode).toBe(2)
      expect(stderr).not.toMatch(/Did you mean `cc-executor (?:stop|cancel|rm|prune|token revoke)/)
    }
    const top = await line.run(["top"])
    expect(top).toMatchObject({ exitCode: 2, stdout: "" })
    expect(top.stderr).toContain("--interactive needs a terminal. Use --watch")
  })
})

describe("inspect", () => {
  test("shows everything that is known of one execution", async () => {
    const script = "sleep 1000 & echo out; echo err >&2; exit 5"
    const options = ["--name", "all", "--timeout", "90s", "--output-limit", "1M"]
    await line.run(["run", ...options, "--", "sh", "-c", script])
    const id = await line.stdout("ps", "-a", "-q", "-n", "1")

    const text = await line.stdout("inspect", short(id))

    expect(text).toMatch(new RegExp(`^Id +${id}$`, "m"))
    expect(text).toMatch(/^State +ended$/m)
    expect(text).toMatch(/^Ended +with exit code 5$/m)
    expect(text).toMatch(/^Output +4 B in 1 line$/m)
    expect(text).toMatch(/^Timeouts +1m30s of running$/m)
    expect(text).toMatch(/^Output limit +1.0 MiB$/m)
    expect(text).toMatch(/^Name +all$/m)
    expect(text).toMatch(/^Chain +[0-9a-f]{64}$/m)
    expect(text).toMatch(/^SHA-256 of output +[0-9a-f]{64}$/m)
    expect(text).toMatch(/^Left behind, ended +\d+ by SIG(?:TERM|KILL) after /m)
    expect(JSON.parse(await line.stdout("inspect", "--json", id))).toMatchObject({
      execution_id: id,
      ending: { exit_code: 5 },
    })
  })
})

describe("logs without an id", () => {
  test("shows the latest, and says which that is", async () => {
    await line.run(["run", "--", "echo", "first"])
    await line.run(["run", "--", "echo", "second"])
    const id = await line.stdout("ps", "-a", "-q", "-n", "1")

    const { stdout, stderr } = await line.run(["logs"])

    expect(stdout).toBe("second\n")
    expect(stderr).toMatch(
      new RegExp(`^cc-executor: output of ${short(id)}, started \\d+s ago: echo second\\n$`),
    )
  })
})

describe("a whole command line in one word", () => {
  test("is refused with the option that takes it", async () => {
    const { exitCode, stderr } = await line.run(["run", "ls | wc -l"])

    expect(exitCode).toBe(127)
    expect(stderr).toContain("To run a command line in a shell: cc-executor run --shell 'ls | wc")
  })

  test("under an allow-list, also with what the policy would need", async () => {
    const allowed = new CommandLine()
    await using _line = allowed
    await using _service = await Service.start({
      stateDir: allowed.stateDir,
      flags: { "allowed-commands": "ls" },
    })

    const { exitCode, stderr } = await allowed.run(["run", "ls | wc -l"])

    expect(exitCode).toBe(125)
    expect(stderr).toMatch(/Refused: .*separate words, or let the policy allow the service's shell/)
    expect(stderr).toContain("cc-executor run --shell 'ls | wc -l'")
  })
})

describe("--cancel-on-disconnect", () => {
  test("ends the command some seconds after a client that was told to end", async () => {
    await using run = line.start(
      "run",
      "--cancel-on-disconnect",
      "--",
      "sh",
      "-c",
      "echo up; sleep 1000",
    )
    await run.untilSays("up")
    const id = await line.stdout("ps", "-q")

    run.kill("SIGTERM")

    expect(await run.exited).toBe(143)
    expect((await line.run(["wait", id])).exitCode).toBe(130)
    expect(await line.stdout("inspect", id)).toMatch(/^Ended +disconnected$/m)
  })
})

describe("a saved context", () => {
  test("reaches the service that it names, and failures name it", async () => {
    await using service = await Service.start()
    const config = join(line.stateDir, "config")
    mkdirSync(config, { recursive: true })
    const env = { XDG_CONFIG_HOME: config, CC_EXECUTOR_STATE_DIR: "" }
    const run = (...argv: string[]) => line.run(argv, { env })
    const token = await Bun.$`${executable} token create \
      --name you --state-dir ${service.stateDir}`.text()
    writeFileSync(join(line.stateDir, "team-token"), token)

    const url = await service.url()
    const added = await run("context", "add", "team", "--url", url, "--token-file", "team-token")
    expect(added).toMatchObject({ exitCode: 0 })
    expect(await run("run", "--context", "team", "--", "echo", "far")).toMatchObject({
      exitCode: 0,
      stdout: "far\n",
    })
    const sleeper = ["sh", "-c", "echo ready; exec sleep 1000"]
    const { stdout: id } = await run("run", "--context", "team", "-d", "--", ...sleeper)
    await using attached = line.startWith(env, "attach", "--context", "team", id.trim())
    await attached.untilSays("ready")
    attached.kill("SIGINT")
    expect(await attached.exited).toBe(130)
    expect(attached.stderr).toContain(`attach --context team ${id.slice(0, 8)}; cancel it with:`)
    await run("context", "use", "team")
    expect((await run("ps", "-a")).stdout).toContain("echo far")
    const unknown = await run("logs", "nosuchid")
    expect(unknown.stderr).toContain('(context "team")')
    expect((await run("cancel", "nosuchid")).stderr).toContain('(context "team")')
    expect((await run("__complete", "ps", "--context", "")).stdout).toMatch(/^team\t/m)
    expect((await run("context", "remove", "team")).stderr).toContain("now use the local service")
  })
})
