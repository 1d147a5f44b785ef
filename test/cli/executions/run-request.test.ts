import { describe, expect, test } from "bun:test"
import { readArguments } from "../../../src/cli/arguments.ts"
import {
  type Receiver,
  readRun,
  requestFor,
  runOptions,
} from "../../../src/cli/executions/run-request.ts"
import { fakeContext, fakeInput } from "../fake-context.ts"

type Replaced = Parameters<typeof fakeContext>[0]

function request(argv: string[], replaced: Replaced = {}, receiver: Receiver = "own-user") {
  const { values, operands } = readArguments(argv, runOptions, true)
  const context = fakeContext(replaced)
  return requestFor(receiver, readRun(context, values, operands), context)
}

function input(argv: string[], kind: "terminal" | "stream" | "nothing") {
  const { values, operands } = readArguments(argv, runOptions, true)
  return readRun(fakeContext({ stdin: fakeInput(kind) }), values, operands).input
}

describe("the request of a run", () => {
  const env = { PATH: "/bin", HOME: "/home/user", CC_EXECUTOR_PORT: "1", BUN_OPTIONS: "x" }

  test("takes directory and environment along to a local service, save what is its own", () => {
    expect(request(["ls", "-l"], { env })).toMatchObject({
      argv: ["ls", "-l"],
      cwd: "/home/user/project",
      env: { PATH: "/bin", HOME: "/home/user", PWD: "/home/user/project" },
      stdin: "closed",
      encoding: "binary",
    })
    expect(Object.keys(request(["ls"], { env }).env ?? {})).not.toContain("BUN_OPTIONS")
    expect(Object.keys(request(["ls"], { env }).env ?? {})).not.toContain("CC_EXECUTOR_PORT")
  })

  test("tells a remote one only what was said", () => {
    const remote = request(["-e", "A=1", "-e", "HOME", "ls"], { env }, "remote")

    expect(remote.cwd).toBeUndefined()
    expect(remote.env).toEqual({ A: "1", HOME: "/home/user" })
    expect(request(["--cwd", "there", "ls"], { env }, "remote").cwd).toBe("there")
    expect(request(["--cwd", "there", "ls"], { env }).cwd).toBe("/home/user/project/there")
  })

  test("leaves out what is another user's own, unless it was named", () => {
    const other = request(["-e", "USER=x", "ls"], { env: { ...env, USER: "me" } }, "other-user")

    expect(other.env).toEqual({ PATH: "/bin", PWD: "/home/user/project", USER: "x" })
  })

  test("sets nothing but what was named where an allow-list rules", () => {
    const terminal = { env: { ...env, TERM: "xterm" } }
    const listed = request(["-t", "-e", "A=1", "vi"], terminal, "allow-list")

    expect(listed).toMatchObject({ env: { A: "1" }, cwd: "/home/user/project" })
    expect(Object.keys(listed.env ?? {})).toEqual(["A"])
  })

  test("has everything that was asked for, in the protocol's units", () => {
    const argv =
      "--timeout 2m --idle-timeout 500ms --name web -l team=x " +
      "--budget-bytes 64k --budget-lines 10 --budget-policy block " +
      "--memory 1MiB --cpus 0.5 --pids 9 --output-limit 2k " +
      "--cancel-on-disconnect --idempotency-key k --shell a|b"
    expect(request(argv.split(" "))).toMatchObject({
      command: "a|b",
      shell: true,
      timeout: 120,
      idle_timeout: 0.5,
      labels: { name: "web", team: "x" },
      budget: { bytes: 65_536, lines: 10, policy: "block" },
      limits: { memory: 1_048_576, cpu: 0.5, pids: 9, output: 2048 },
      on_disconnect: "cancel",
      idempotency_key: "k",
    })
  })

  test("has a terminal of this one's size, or a usual one", () => {
    const size = { cols: 100, rows: 30 }
    const local = request(
      ["-t", "vi"],
      { terminalSize: () => size, env: { TERM: "xterm" } },
      "remote",
    )

    expect(local.terminal).toEqual(size)
    expect(local.env).toEqual({ TERM: "xterm" })
    expect(request(["-t", "vi"]).terminal).toEqual({ cols: 80, rows: 24 })
  })
})

describe("standard input of a run", () => {
  test.each([
    [[], "stream", "stream", "pipe"],
    [[], "nothing", "none", "closed"],
    [[], "terminal", "none", "closed"],
    [["-i"], "terminal", "stream", "pipe"],
    [["-t"], "terminal", "keys", undefined],
    [["-d"], "stream", "stream", "pipe"],
    [["-d"], "terminal", "none", "closed"],
    [["-d", "-i"], "nothing", "none", "pipe"],
  ] as const)("%j with %s is passed on as %s", (flags, kind, passed, stdin) => {
    const argv = [...flags, "cat"]

    expect(input(argv, kind)).toBe(passed)
    expect(request(argv, { stdin: fakeInput(kind) }).stdin).toBe(stdin)
  })
})
