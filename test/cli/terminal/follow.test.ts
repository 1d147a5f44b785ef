import { describe, expect, test } from "bun:test"
import { type FollowOptions, follow } from "../../../src/cli/terminal/follow.ts"
import { CallError } from "../../../src/client/client-error.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { fakeContext, fakeInput, fakeOutput } from "../fake-context.ts"
import { FakeExecution, output } from "../fake-execution.ts"

const piped: FollowOptions = {
  input: "none",
  terminal: "none",
  linesAbove: 0,
  detachKeys: Buffer.from("\x1d\x1d"),
  queries: "removed" as const,
  mayCancel: true,
  onBrokenPipe: "cancel",
  earlier: [],
}

describe("following an execution", () => {
  test("brings each stream's bytes where they belong, and the exit code", async () => {
    const context = fakeContext()
    const execution = new FakeExecution([
      output("stdout", "out\xff"),
      output("stderr", "err"),
      output("stdout", "more"),
    ])
    execution.complete({ exit_code: 7 })

    expect(await follow(context, execution, piped)).toBe(7)
    expect(context.stdout.text()).toBe("out\xffmore")
    expect(context.stderr.text()).toBe("err")
  })

  test("tells of output that is missing", async () => {
    const context = fakeContext()
    const gap = { from: "a", next: "b", bytes: 2048, lines: 3, reason: "the budget" }
    const execution = new FakeExecution([{ kind: "gap", ...gap }])
    execution.complete()

    await follow(context, execution, piped)
    expect(context.stderr.text()).toContain("2.0 KiB (3 lines) are missing here: the budget")
  })

  test("passes on what is piped in, then its end", async () => {
    const context = fakeContext({ stdin: fakeInput("stream", ["one", "two"]) })
    const execution = new FakeExecution()

    const followed = follow(context, execution, { ...piped, input: "stream" })
    await until(() => execution.asked.includes("end"))
    execution.complete()

    expect(await followed).toBe(0)
    expect(execution.asked).toEqual(["write one", "write two", "end"])
  })

  test("does not mind a command that closes its input", async () => {
    const context = fakeContext({ stdin: fakeInput("stream", ["one", "two"]) })
    const execution = new FakeExecution()
    execution.taking = () => Promise.reject(new CallError(failure("WRONG_STATE", "It is closed.")))

    const followed = follow(context, execution, { ...piped, input: "stream" })
    await until(() => execution.asked.length > 0)
    execution.complete()

    expect(await followed).toBe(0)
    expect(execution.asked).toEqual(["write one"])
    expect(context.stderr.text()).toBe("")
  })

  test("fails when what is piped in is refused for another reason", async () => {
    const context = fakeContext({ stdin: fakeInput("stream", ["one", "two"]) })
    const execution = new FakeExecution()
    execution.taking = () => Promise.reject(new CallError(failure("FORBIDDEN", "Only to read.")))

    const followed = follow(context, execution, { ...piped, input: "stream" })

    expect(followed).rejects.toThrow("Only to read.")
    await followed.catch(() => undefined)
  })

  test("ends although the command never read its input", async () => {
    const context = fakeContext({ stdin: fakeInput("stream", ["one"]) })
    const execution = new FakeExecution()
    execution.taking = () => Promise.withResolvers<void>().promise

    const followed = follow(context, execution, { ...piped, input: "stream" })
    await until(() => execution.asked.length > 0)
    execution.complete({ exit_code: 3 })

    expect(await followed).toBe(3)
  })
})

describe("leaving an execution", () => {
  test("Ctrl-C cancels it and waits for its end", async () => {
    const context = fakeContext()
    const execution = new FakeExecution()

    const followed = follow(context, execution, piped)
    context.signal("SIGINT")
    await until(() => execution.asked.includes("cancel"))
    execution.complete({ outcome: "stopped", exit_code: null, cause: "client" })

    expect(await followed).toBe(130)
    expect(context.stderr.text()).toContain("canceling 7kq2mfa4…")
    expect(context.stderr.text()).toContain("7kq2mfa4 was canceled.")
  })

  test("a second Ctrl-C detaches and says how to come back", async () => {
    const context = fakeContext()
    const execution = new FakeExecution()

    const followed = follow(context, execution, piped)
    context.signal("SIGINT")
    context.signal("SIGINT")

    expect(await followed).toBe(130)
    expect(context.stderr.text()).toContain("is still being canceled")
    expect(context.stderr.text()).toContain("cc-executor attach 7kq2mfa4")
  })

  test("a signal that came before there was anything to cancel counts", async () => {
    const context = fakeContext()
    const execution = new FakeExecution()

    const followed = follow(context, execution, { ...piped, earlier: ["SIGINT"] })
    await until(() => execution.asked.includes("cancel"))
    execution.complete({ outcome: "stopped", exit_code: null, cause: "client" })

    expect(await followed).toBe(130)
  })

  test.each([
    ["cancel", 141, ["cancel"]],
    ["detach", 0, []],
  ] as const)("a reader that goes away means to %s", async (onBrokenPipe, exitCode, asked) => {
    const context = fakeContext()
    context.stdout.break()
    const execution = new FakeExecution([output("stdout", "x")])

    expect(await follow(context, execution, { ...piped, onBrokenPipe })).toBe(exitCode)
    expect(execution.asked).toEqual([...asked])
    expect(context.stderr.text()).toBe("")
  })
})

describe("following on a terminal", () => {
  const options: FollowOptions = { ...piped, input: "keys", terminal: "steered" }

  test("can be left though the command reads nothing, and says what it may not get", async () => {
    const context = fakeContext({ stdin: fakeInput("terminal", ["abc", "\x1d\x1d"]) })
    const execution = new FakeExecution()
    execution.taking = () => Promise.withResolvers<void>().promise

    expect(await follow(context, execution, options)).toBe(0)
    expect(context.stderr.text()).toContain("continues; it may not get the last 3 bytes typed")
  })

  test("can be left though the command may not be written to", async () => {
    const context = fakeContext({ stdin: fakeInput("terminal", ["abc", "\x1d\x1d"]) })
    const execution = new FakeExecution()
    execution.taking = () => Promise.reject(new CallError(failure("FORBIDDEN", "Only to read.")))

    expect(await follow(context, execution, options)).toBe(0)
    expect(context.stderr.text()).toContain("detached; 7kq2mfa4 continues")
  })

  test("says that keys are refused and why, unless the command is just ending", async () => {
    const refused = () => Promise.reject(new CallError(failure("WRONG_STATE", "It is closed.")))
    const stdin = fakeInput("terminal", ["a", "b"])
    const context = fakeContext({ stdin })
    const execution = new FakeExecution()
    execution.taking = refused
    const ending = new FakeExecution()
    ending.taking = refused
    const quiet = fakeContext({ stdin })

    const followed = follow(context, execution, options)
    const endingFollowed = follow(quiet, ending, options)
    await until(() => ending.asked.includes("write a"))
    ending.complete()
    await endingFollowed
    await until(() => context.stderr.text() !== "")
    execution.complete()

    expect(await followed).toBe(0)
    const said = "cc-executor: 7kq2mfa4 gets none of your keys: It is closed. The detach keys"
    expect(context.stderr.text()).toBe(`${said} still leave it.\r\n`)
    expect(quiet.stderr.text()).toBe("")
  })

  test("passes keys and sizes on, and puts the terminal back", async () => {
    const stdin = fakeInput("terminal", ["ls\r", "\x1d", "\x1d"])
    const size = { cols: 80, rows: 24 }
    const context = fakeContext({ stdin, terminalSize: () => ({ ...size }) })
    const execution = new FakeExecution()

    const followed = follow(context, execution, options)
    size.cols = 100
    context.signal("SIGWINCH")

    expect(await followed).toBe(0)
    expect(execution.asked).toEqual(["resize 80x24", "resize 100x24", "write ls\r"])
    expect(stdin.modes).toEqual(["raw", "restored"])
    expect(context.stderr.text()).toContain("cc-executor attach 7kq2mfa4")
  })

  test("takes raw mode up again after it was stopped", async () => {
    const stdin = fakeInput("terminal")
    const context = fakeContext({ stdin, stdout: fakeOutput({ isTty: true }) })
    const execution = new FakeExecution()

    const followed = follow(context, execution, options)
    context.signal("SIGCONT")
    execution.complete()

    expect(await followed).toBe(0)
    expect(stdin.modes).toEqual(["raw", "raw again", "restored"])
  })

  test("puts the terminal back when following fails", async () => {
    const stdin = fakeInput("terminal", ["x"])
    const context = fakeContext({ stdin })
    const execution = new FakeExecution()
    execution.taking = () => Promise.reject(new Error("broken"))

    const followed = follow(context, execution, options)

    expect(followed).rejects.toThrow("broken")
    await followed.catch(() => undefined)
    expect(stdin.modes).toEqual(["raw", "restored"])
  })
})

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}
