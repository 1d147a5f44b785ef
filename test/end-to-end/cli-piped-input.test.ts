import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { CommandLine, Started } from "../cli/command-line.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { fewIfShort } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

describe("run -d with something piped in", () => {
  const line = new CommandLine()
  afterEach(() => cancelAll(line))
  afterAll(() => line[Symbol.asyncDispose]())

  test("passes it on to its end before it returns", async () => {
    const bytes = "0123456789".repeat(500_000)

    const { stdout, exitCode } = await line.run(["run", "-d", "--", "cat"], { input: bytes })

    expect(exitCode).toBe(0)
    const id = stdout.trim()
    await line.stdout("wait", id)
    expect((await line.run(["logs", id])).stdout).toBe(bytes)
  })

  test("waits for a producer that is slow, as long as it writes to the same pipe", async () => {
    const script = '{ sleep 2; echo late; } | "$PROGRAM" run -d -- cat'

    const { stdout, stderr } = await line.runOther(["sh", "-c", script])

    expect(stderr).toBe("")
    await line.stdout("wait", stdout.trim())
    expect(await line.stdout("logs", stdout.trim())).toBe("late")
  })

  test("keeps its input open for others with -i", async () => {
    const { stdout } = await line.run(["run", "-d", "-i", "--", "cat"], { input: "first\n" })
    const id = stdout.trim()

    await line.stdout("send", "--end", id, "second")

    await line.stdout("wait", id)
    expect(await line.stdout("logs", id)).toBe("first\nsecond")
  })

  test("does not wait for a pipe that is only left open, and says so", async () => {
    const program = Bun.spawn([executable, "run", "-d", "--", "cat"], {
      env: line.env(),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    })

    const [id, said] = await Promise.all([program.stdout.text(), program.stderr.text()])

    expect(await program.exited).toBe(0)
    expect(said).toContain("nothing came from standard input, which is still open")
    expect((await line.run(["wait", id.trim()])).exitCode).toBe(0)
  })

  test("returns when the command has ended, though its producer goes on in silence", async () => {
    const { exitCode, stdout, stderr } = await line.runOther(pipeline("tail -f /dev/null", "true"))

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    const [, id = ""] = stdout.split("\n")
    expect((await line.run(["wait", id])).exitCode).toBe(0)
  })

  test("returns when the command has read what it wants of an endless input", async () => {
    const { exitCode, stdout, stderr } = await line.runOther(pipeline("yes", "head -n 2"))

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    const [, id = ""] = stdout.split("\n")
    await line.stdout("wait", id)
    expect(await line.stdout("logs", id)).toBe("y\ny")
  })

  test.each(fewIfShort(1, ["sleep 1000", "cat"]))(
    "says what it waits for, and can be left, when endless input goes to `%s`",
    async (command) => {
      await using program = new Started(pipeline("yes", command), line.env(), line.stateDir)

      await program.untilSays("Ctrl-C stops that and leaves it running.")
      const [pid, id = ""] = program.stdout.trim().split("\n")
      process.kill(Number(pid), "SIGINT")

      expect(await program.exited).toBe(130)
      expect(program.stderr).toContain(`still passing standard input on to ${id.slice(0, 8)}.`)
      expect(program.stderr).toContain(`${id.slice(0, 8)} continues, its input is still open`)
      expect(await line.stdout("ps", "-q")).toBe(id)
    },
  )
})

/** Tells the pid of the second one and its output; when that has ended, the first is ended. */
function pipeline(producer: string, command: string): string[] {
  const start = `${producer} | "$PROGRAM" run -d -- ${command} & program=$!; producer=$(jobs -p)`
  const end = "wait $program; code=$?; kill $producer 2>&-; exit $code"
  return ["bash", "-c", `${start}; echo $program; ${end}`]
}

describe("something piped into a command that must wait for its turn", () => {
  const env = { CC_EXECUTOR_MAX_EXECUTIONS: "1" } // for the service that the first starts
  const line = new CommandLine()
  afterEach(() => cancelAll(line))
  afterAll(() => line[Symbol.asyncDispose]())

  test.each([[], ["-d"]])("is passed on when it starts: run %s", async (...how) => {
    const first = (await line.run(["run", "-d", "--", "sleep", "1000"], { env })).stdout.trim()

    const running = line.run(["run", ...how, "--", "cat"], { input: "patient\n" })
    const queued = ["ps", "-q", "--state", "queued"]
    const id = await until("it is queued", async () => (await line.stdout(...queued)) || null)
    await line.stdout("cancel", first)

    expect(await running).toMatchObject({ exitCode: 0, stderr: "" })
    await line.stdout("wait", id)
    expect(await line.stdout("logs", id)).toBe("patient")
  })
})
