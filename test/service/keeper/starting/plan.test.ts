import { describe, expect, test } from "bun:test"
import { plan } from "../../../support/planning.ts"

describe("a planned command", () => {
  test("without shell syntax is executed as its words, found along PATH", () => {
    expect(plan({ command: "ls -l 'a b'" })).toMatchObject({
      ok: true,
      value: {
        spec: { command: "ls -l 'a b'", argv: ["ls", "-l", "a b"], shell: false },
        launch: { argv: ["/bin/ls", "-l", "a b"], argv0: "ls" },
      },
    })
  })

  test("with shell syntax, or on request, runs in the shell", () => {
    for (const request of [{ command: "ls | cat" }, { command: "ls", shell: true }]) {
      expect(plan(request)).toMatchObject({
        ok: true,
        value: {
          spec: { argv: ["/bin/sh", "-c", request.command], shell: true },
          launch: { argv: ["/bin/sh", "-c", request.command] },
        },
      })
    }
  })

  test("given as words is never looked at for shell syntax", () => {
    expect(plan({ argv: ["ls", "$HOME | cat"] })).toMatchObject({
      ok: true,
      value: { spec: { command: null, argv: ["ls", "$HOME | cat"], shell: false } },
    })
  })

  test("is refused when it is none", () => {
    for (const command of ["  ", "echo 'open"]) {
      expect(plan({ command })).toMatchObject({
        ok: false,
        failure: { reason: "INVALID_PARAMS" },
      })
    }
    expect(plan({ argv: ["nothing-like-it"] })).toMatchObject({
      ok: false,
      failure: { reason: "SPAWN_FAILED", details: { errno: "ENOENT" } },
    })
  })

  test("and not found says in whose PATH", () => {
    const argv = ["nothing"]

    expect(plan({ argv })).toMatchObject({
      failure: {
        message: "Could not start: nothing: command not found in the service's PATH (/bin).",
      },
    })
    expect(plan({ argv, env: { PATH: "/mine" } })).toMatchObject({
      failure: { message: "Could not start: nothing: command not found in PATH (/mine)." },
    })
  })
})

describe("what a request leaves open", () => {
  test("is decided by the service", () => {
    const planned = plan({ argv: ["ls"] })

    expect(planned).toMatchObject({
      value: {
        spec: {
          cwd: "/srv",
          envNames: [],
          stdin: "closed",
          terminal: null,
          wallTimeoutMs: 60_000,
          idleTimeoutMs: null,
          budget: { bytes: 1000, lines: 10, policy: "block" },
          onDisconnect: "keep",
        },
        launch: { env: { PATH: "/bin", HOME: "/home/me" } },
      },
    })
  })

  test("is decided by the request where it says so", () => {
    const planned = plan({
      argv: ["ls"],
      cwd: "/tmp",
      env: { HOME: "/tmp", B: "2", A: "1" },
      timeout: 1.5,
      idle_timeout: 0.25,
      budget: { bytes: 2048, policy: "drop-oldest" },
    })

    expect(planned).toMatchObject({
      value: {
        spec: {
          cwd: "/tmp",
          envNames: ["A", "B", "HOME"],
          wallTimeoutMs: 1500,
          idleTimeoutMs: 250,
          budget: { bytes: 2048, lines: 10, policy: "drop-oldest" },
        },
        launch: { env: { PATH: "/bin", HOME: "/tmp", A: "1", B: "2" } },
      },
    })
  })

  test("never makes a terminal wait, gives it input, and says what it is", () => {
    const terminal = { cols: 80, rows: 24 }

    expect(plan({ argv: ["ls"], terminal })).toMatchObject({
      value: {
        spec: { stdin: "pipe", terminal, budget: { policy: "drop-oldest" } },
        launch: { env: { TERM: "xterm-256color" } },
      },
    })
    expect(plan({ argv: ["ls"], terminal, env: { TERM: "dumb" } })).toMatchObject({
      value: { launch: { env: { TERM: "dumb" } } },
    })
  })
})

describe("a limit", () => {
  const limits = { memory: 1_000_000, cpu: 0.5, pids: 10 }

  test("that the machine can hold an execution to is planned", () => {
    const holders = { memoryBytes: "rlimit", cpus: "cgroup", pids: "cgroup" } as const

    expect(plan({ argv: ["ls"], limits }, { holders })).toMatchObject({
      value: {
        spec: { limits: { memoryBytes: 1_000_000, cpus: 0.5, pids: 10 }, limitsHeldBy: holders },
        launch: { limitsHeldBy: holders },
      },
    })
  })

  test("that it cannot is refused: no receipt must claim it", () => {
    const holders = { memoryBytes: "cgroup", cpus: "cgroup", pids: null } as const

    expect(plan({ argv: ["ls"], limits }, { holders })).toMatchObject({
      ok: false,
      failure: { reason: "INVALID_PARAMS", details: { limit: "pids" } },
    })
  })
})
