import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../src/protocol/execute.ts"
import { ControlParams, isMethodName, methods } from "../../src/protocol/methods.ts"

describe("a request to execute", () => {
  test("needs nothing but a command, and has the documented defaults", () => {
    expect(ExecuteParams.parse({ command: "ls" })).toEqual({
      command: "ls",
      stdin: "closed",
      encoding: "utf8",
      on_disconnect: "keep",
      labels: {},
    })
  })

  test("may say everything the protocol knows, and more that is ignored", () => {
    const all = {
      argv: ["claude", "-p", ""],
      cwd: "/tmp",
      env: { "A B": "", Ä: "ü\n" },
      stdin: "pipe",
      timeout: 0.001,
      idle_timeout: 31_536_000,
      budget: { bytes: 1024, lines: 1, policy: "block" },
      limits: { memory: 1, cpu: 0.1, pids: 1 },
      encoding: "binary",
      idempotency_key: "k".repeat(256),
      on_disconnect: "cancel",
      labels: { a: "" },
    }
    expect(ExecuteParams.parse({ ...all, future: true })).toMatchObject(all)
  })

  const refused: [string, object, PropertyKey[]][] = [
    ["neither command nor argv", {}, []],
    ["both", { command: "ls", argv: ["ls"] }, []],
    ["a shell for argv", { argv: ["ls"], shell: true }, ["shell"]],
    ["a NUL", { command: "a\0" }, ["command"]],
    ["a NUL in one argument", { argv: ["a", "\0"] }, ["argv", 1]],
    ["a variable without a name", { command: "a", env: { "": "x" } }, ["env", ""]],
    ["a name with =", { command: "a", env: { "X=Y": "x" } }, ["env", "X=Y"]],
    [
      "a terminal that blocks",
      { command: "a", terminal: { cols: 1, rows: 1 }, budget: { policy: "block" } },
      ["budget", "policy"],
    ],
    ["33 labels", { command: "a", labels: manyLabels(33) }, ["labels"]],
    ["a timeout of nothing", { command: "a", timeout: 0 }, ["timeout"]],
    ["a timeout without end", { command: "a", timeout: Infinity }, ["timeout"]],
  ]
  test.each(refused)("with %s is refused where it is wrong", (_, params, path) => {
    const parsed = ExecuteParams.safeParse(params)
    expect(parsed.success).toBe(false)
    expect(parsed.error?.issues.map((issue) => issue.path)).toContainEqual(path)
  })

  test("with 32 labels is taken, and so is a shell that is not wanted", () => {
    expect(ExecuteParams.safeParse({ command: "a", labels: manyLabels(32) }).success).toBe(true)
    expect(ExecuteParams.safeParse({ argv: ["a"], shell: false }).success).toBe(true)
  })
})

describe("a request to control", () => {
  test("has a signal exactly when it is to send one", () => {
    const accepts = (params: object) => ControlParams.safeParse(params).success
    expect(accepts({ type: "SIGNAL", signal: "SIGHUP" })).toBe(true)
    expect(accepts({ type: "SIGNAL", signal: 64 })).toBe(true)
    expect(accepts({ type: "SIGNAL" })).toBe(false)
    expect(accepts({ type: "PAUSE", signal: 1 })).toBe(false)
  })
})

describe("the methods", () => {
  test("are those of the protocol", () => {
    expect(Object.keys(methods).toSorted()).toEqual(
      [
        ["ack", "agent.answer", "agent.changes", "agent.configure", "agent.drop"],
        ["agent.end", "agent.inbox"],
        ["agent.interrupt", "agent.send", "agent.start", "agent.status", "agent.take"],
        ["attach", "control", "detach", "execute", "input", "list"],
        ["node.drain", "node.forget", "node.list", "node.undrain"],
        ["notify.list", "notify.test"],
        [
          "receipt",
          "remove",
          "resize",
          "screen",
          "status",
          "transcript.read",
          "transcript.search",
          "transcript.verify",
        ],
        ["trial.begin", "trial.end", "trial.list", "trial.renew", "trial.status", "watch"],
      ].flat(),
    )
  })

  test("are nothing that an object happens to have", () => {
    for (const name of ["toString", "__proto__", "constructor", "hasOwnProperty", ""]) {
      expect(isMethodName(name)).toBe(false)
    }
  })

  test("without required parameters work without any", () => {
    expect(methods.list.params.parse(undefined)).toEqual({ limit: 100 })
    expect(methods.watch.params.parse(undefined)).toEqual({})
  })
})

function manyLabels(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`label${index}`, ""]))
}
