import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { CommandLine, type Finished } from "../cli/command-line.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

/** Shared by all that leave its service as it was, and who all find nothing that runs there. */
const line = new CommandLine()
afterEach(() => cancelAll(line))
afterAll(() => line[Symbol.asyncDispose]())

/** Starts it in the background, and answers its id. */
function started(where: CommandLine, name: string, ...command: string[]): Promise<string> {
  return where.stdout("run", "-d", "-i", "--name", name, "--", ...command)
}

describe("a name", () => {
  test("works wherever an id does, while it runs", async () => {
    const script = "trap 'echo hangup' HUP; while read -r line; do echo got $line; done"
    const id = await started(line, "nightly", "sh", "-c", script)
    const short = id.slice(0, 8)
    const said = async (...argv: string[]) => (await line.run(argv)).stderr.trim()

    expect(await said("pause", "nightly")).toBe(`nightly (${short}) paused`)
    expect(await said("resume", "nightly")).toBe(`nightly (${short}) resumed`)
    expect(await said("signal", "CONT", "nightly")).toStartWith(`nightly (${short}) got CONT`)
    await line.stdout("send", "nightly", "hello")
    await using attached = line.start("attach", "nightly")
    await attached.untilSays("got hello")
    await using waiting = line.start("wait", "nightly")
    expect(await line.stdout("logs", "nightly")).toBe("got hello")
    expect(JSON.parse(await line.stdout("inspect", "--json", "nightly")).execution_id).toBe(id)
    expect(await line.stdout("inspect", "nightly")).toMatch(/^Id +.*\nName +nightly\nCommand/)
    expect(await said("cancel", "nightly")).toStartWith(`nightly (${short}) canceled`)
    expect([await attached.exited, await waiting.exited]).toEqual([130, 130])
  })

  test("works wherever an id does, when it has ended, without a service too", async () => {
    await using own = new CommandLine()
    const first = await started(own, "nightly", "echo", "first")
    await own.run(["wait", first])

    expect(await own.run(["attach", "nightly"])).toMatchObject({ stdout: "first\n", exitCode: 0 })
    expect(await own.stdout("receipt", "nightly")).toContain(first)
    expect(await own.stdout("verify", "--contains", "first", "nightly")).toContain("verified")
    expect(await own.stdout("rerun", "nightly")).toBe("first")
    const latest = JSON.parse(await own.stdout("inspect", "--json", "nightly"))
    expect(latest).toMatchObject({ labels: { name: "nightly" } })
    expect(latest.execution_id).not.toBe(first)

    await own.run(["stop"])
    const offline = ["verify", "--offline", "--json", "nightly"]
    expect(JSON.parse(await own.stdout(...offline)).execution_id).toBe(latest.execution_id)

    await own.stdout("rm", "nightly")
    const again = JSON.parse(await own.stdout("inspect", "--json", "nightly"))
    expect(again.execution_id).toBe(first)
    await own.stdout("rm", "nightly")
    expect(await own.run(["inspect", "nightly"])).toMatchObject({
      exitCode: 1,
      stderr: 'cc-executor: Unknown execution: "nightly".\n',
    })
  })

  test("comes before the beginning of an id, and after a whole one", async () => {
    const other = await started(line, "nightly", "cat")
    const prefix = other.slice(0, 2)
    const named = await started(line, prefix, "true")

    expect(JSON.parse(await line.stdout("inspect", "--json", prefix)).execution_id).toBe(named)
    expect(JSON.parse(await line.stdout("inspect", "--json", other)).execution_id).toBe(other)
  })

  test("may be any text but one in the form of an id", async () => {
    const odd = "back up/site: 100%?"
    const id = await started(line, odd, "true")

    expect(JSON.parse(await line.stdout("inspect", "--json", odd)).execution_id).toBe(id)
    const refused = await line.run(["run", "--name", "a".repeat(26), "--", "true"])
    expect(refused.exitCode).toBe(125)
    expect(refused.stderr).toContain("labels.name: a name must not have the form of an id")
  })
})

describe("a name that is in use", () => {
  test("is refused, with who has it and what to do, until that has ended", async () => {
    const count = async () => (await line.stdout("ps", "-a", "-q")).split("\n").length
    const id = await started(line, "nightly", "cat")
    const before = await count()

    const refused = [
      await line.run(["run", "--name", "nightly", "--", "touch", "done"]),
      await line.run(["rerun", "-d", "nightly"]),
    ]

    for (const { exitCode, stderr, stdout } of refused) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 125, stdout: "" })
      expect(stderr).toBe(
        `cc-executor: The name "nightly" is in use by execution ${id}, which is running: ` +
          "choose another name, or cancel that execution first. " +
          "To follow it: cc-executor attach nightly\n",
      )
    }
    expect(await line.stdout("rerun", "-d", "--name", "second", "nightly")).not.toBe(id)
    expect(await count()).toBe(before + 1)

    await line.stdout("cancel", "nightly")
    expect(await line.stdout("run", "--name", "nightly", "--", "echo", "now")).toBe("now")
  })

  test("is won by one of several that start at once", async () => {
    await line.stdout("run", "--", "true")

    const tries = await Promise.all(
      Array.from({ length: 5 }, () =>
        line.run(["run", "-d", "-i", "--name", "one", "--", "sleep", "600"]),
      ),
    )

    const won = tries.filter(({ exitCode }) => exitCode === 0)
    expect(won).toHaveLength(1)
    const id = won[0]?.stdout.trim() ?? ""
    const isRefused = ({ stderr }: Finished) => stderr.includes(`in use by execution ${id}`)
    expect(tries.filter(isRefused)).toHaveLength(4)
    expect(await line.stdout("ps", "-q")).toBe(id)
  })

  test("keeps a repeat by its idempotency key from nothing", async () => {
    const argv = ["run", "-d", "--name", "once", "--idempotency-key", "k", "--", "sleep", "600"]

    const id = await line.stdout(...argv)

    expect(await line.stdout(...argv)).toBe(id)
  })

  test("stays so through an upgrade in place, also of what is queued", async () => {
    await using own = new CommandLine()
    const env = { CC_EXECUTOR_MAX_EXECUTIONS: "1" }
    const start = (name: string) =>
      own.run(["run", "-d", "-i", "--name", name, "--", "sleep", "600"], { env })
    const ids = [await start("running"), await start("queued")].map(({ stdout }) => stdout.trim())
    expect((await own.run(["upgrade"])).exitCode).toBe(0)

    for (const [at, name] of ["running", "queued"].entries()) {
      const { stderr } = await start(name)
      expect(stderr).toContain(`is in use by execution ${ids[at]}, which is ${name}`)
      const view = JSON.parse(await own.stdout("inspect", "--json", name))
      expect(view).toMatchObject({ execution_id: ids[at], state: name })
    }
    await own.stdout("cancel", "running")
    await until("the queued one runs", async () => {
      return JSON.parse(await own.stdout("inspect", "--json", "queued")).state === "running"
    })
  })
})
