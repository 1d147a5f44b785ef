import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Bystanders } from "../support/bystanders.ts"
import { RawSession } from "../support/raw-session.ts"
import { until } from "../support/until.ts"

let bystanders: Bystanders
let session: RawSession
const folder = mkdtempSync(join(tmpdir(), "cc-executor-commands-"))
const inFolder = (name: string) => join(folder, name)

beforeAll(async () => {
  writeFileSync(inFolder("plain.txt"), "not a program\n")
  writeFileSync(inFolder("no-interpreter"), "#!/no/such/interpreter\n")
  writeFileSync(inFolder("garbage"), "\x00\x01\x02 not a program\n")
  for (const name of ["no-interpreter", "garbage"]) chmodSync(inFolder(name), 0o755)
  mkdirSync(inFolder("directory"))
  bystanders = await Bystanders.start()
  session = bystanders.session
})

afterAll(async () => {
  await bystanders[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

describe("a command that cannot be started", () => {
  const cannot: [string, object, string][] = [
    ["is nowhere on PATH", { argv: ["no-such-program-here"] }, "ENOENT"],
    ["is a path that is not there", { argv: [inFolder("missing")] }, "ENOENT"],
    ["is a path through a file", { argv: [inFolder("plain.txt/x")] }, "ENOENT"],
    ["is not executable", { argv: [inFolder("plain.txt")] }, "EACCES"],
    ["is a directory", { argv: [inFolder("directory")] }, "EACCES"],
    ["is an empty name", { argv: [""] }, "ENOENT"],
    ["has an interpreter that is not there", { argv: [inFolder("no-interpreter")] }, "ENOENT"],
    ["is no program", { argv: [inFolder("garbage")] }, "ENOEXEC"],
    ["has a cwd that is missing", { argv: ["true"], cwd: inFolder("missing") }, "ENOENT"],
    ["has a cwd that is a file", { argv: ["true"], cwd: inFolder("plain.txt") }, "ENOTDIR"],
    ["has a relative cwd that is missing", { argv: ["true"], cwd: "no/such/folder" }, "ENOENT"],
    ["has an argument too long", { argv: ["true", "x".repeat(200_000)] }, "E2BIG"],
    ["has too many", { argv: ["true", ...Array(60).fill("x".repeat(100_000))] }, "E2BIG"],
    ["has a variable too long", { argv: ["true"], env: { LONG: "x".repeat(200_000) } }, "E2BIG"],
  ]
  test.each(cannot)("because it %s is refused with the errno", async (_, params, errno) => {
    const error = await bystanders.untouchedBy(() => session.refused("execute", params))

    expect(error).toMatchObject({ code: -32009, data: { reason: "SPAWN_FAILED", errno } })
    expect(error.message).not.toContain("[object")
  })

  const invalid: [string, object][] = [
    ["has a NUL in an argument", { argv: ["echo", "a\0b"] }],
    ["has a NUL in its command line", { command: "echo a\0b" }],
    ["has a NUL in a variable", { argv: ["true"], env: { A: "x\0y" } }],
    ["has a NUL in a variable's name", { argv: ["true"], env: { "A\0B": "x" } }],
    ["has a NUL in its cwd", { argv: ["true"], cwd: "/tmp\0/etc" }],
    ["is only spaces", { command: "   " }],
    ["has an open single quote", { command: "echo 'a" }],
    ["has an open double quote", { command: 'echo "a' }],
    ["ends in a backslash", { command: "echo a\\" }],
  ]
  test.each(invalid)("because it %s is refused as invalid", async (_, params) => {
    const error = await bystanders.untouchedBy(() => session.refused("execute", params))
    expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
  })

  test("leaves its idempotency key free", async () => {
    const key = { idempotency_key: "free again" }
    await session.refused("execute", { argv: ["no-such-program-here"], ...key })
    expect((await session.run({ argv: ["true"], ...key })).completed.exit_code).toBe(0)
  })
})

describe("a limit that this machine cannot enforce", () => {
  test("is refused by name: in best-effort containment nothing holds a share of time", async () => {
    const flags = { containment: "best-effort" }
    await using others = await Bystanders.start({ flags })
    const params = { command: "true", limits: { cpu: 0.5 } }

    const error = await others.untouchedBy(() => others.session.refused("execute", params))

    expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS", limit: "cpu" } })
  })
})

describe("an execution that does not exist", () => {
  const missing = "a".repeat(26)
  const calls: [string, object][] = [
    ["control", { type: "PAUSE" }],
    ["control", { type: "RESUME" }],
    ["control", { type: "CANCEL" }],
    ["control", { type: "SIGNAL", signal: "HUP" }],
    ["input", { data: "x" }],
    ["resize", { cols: 1, rows: 1 }],
    ["attach", {}],
    ["detach", {}],
    ["ack", { next: "1.0.0.0.0.0" }],
    ["remove", {}],
    ["status", {}],
    ["receipt", {}],
    ["transcript.read", {}],
    ["transcript.verify", {}],
  ]
  test.each(calls)("is not found by %s %p", async (method, params) => {
    for (const execution_id of [missing, "zzzzzz", "../../etc/passwd", "NOT AN ID", "%"]) {
      const error = await bystanders.untouchedBy(() =>
        session.refused(method, { ...params, execution_id }),
      )
      expect(error).toMatchObject({ code: -32003, data: { reason: "PROCESS_NOT_FOUND" } })
    }
  })

  test("is not there by default before a session has started something", async () => {
    using fresh = await RawSession.open(await bystanders.service.url())
    const error = await bystanders.untouchedBy(() => fresh.refused("control", { type: "CANCEL" }))
    expect(error).toMatchObject({ code: -32003, data: { reason: "PROCESS_NOT_FOUND" } })
  })
})

describe("an execution in the wrong state", () => {
  test("that has ended can be neither steered nor fed", async () => {
    const execution_id = bystanders.ended
    const calls: [string, object][] = [
      ["control", { type: "PAUSE" }],
      ["control", { type: "RESUME" }],
      ["control", { type: "CANCEL" }],
      ["control", { type: "SIGNAL", signal: 1 }],
      ["input", { data: "x" }],
      ["resize", { cols: 1, rows: 1 }],
    ]
    for (const [method, params] of calls) {
      const error = await bystanders.untouchedBy(() =>
        session.refused(method, { ...params, execution_id }),
      )
      const data = { reason: "WRONG_STATE", state: "ended" }
      expect(error).toMatchObject({ code: -32008, data })
    }
  })

  test("that runs has no receipt, cannot be removed, and without a terminal no size", async () => {
    const execution_id = bystanders.running
    for (const [method, params] of [
      ["receipt", {}],
      ["remove", {}],
      ["resize", { cols: 80, rows: 24 }],
    ] as const) {
      const error = await bystanders.untouchedBy(() =>
        session.refused(method, { ...params, execution_id }),
      )
      const data = { reason: "WRONG_STATE", state: "running" }
      expect(error).toMatchObject({ code: -32008, data })
    }
  })

  /** It answers when the tree is gone, a moment before the end is on record. */
  async function cancel(execution_id: string): Promise<void> {
    await session.call("control", { type: "CANCEL", execution_id })
    await until("it has ended", async () => {
      return (await session.call("status", { execution_id })).state === "ended"
    })
  }

  test("without an open standard input takes none, and says its state", async () => {
    const closed = await session.call("execute", { argv: ["sleep", "60"] })
    const { execution_id } = closed
    const never = await session.refused("input", { execution_id, data: "x" })
    await cancel(execution_id)

    const cat = await session.call("execute", { argv: ["sleep", "60"], stdin: "pipe" })
    await session.call("input", { execution_id: cat.execution_id, data: "x", end: true })
    const more = { execution_id: cat.execution_id, data: "y" }
    const afterwards = await session.refused("input", more)
    await cancel(cat.execution_id)

    const refusal = { code: -32008, data: { reason: "WRONG_STATE", state: "running" } }
    expect(never).toMatchObject(refusal)
    expect(afterwards).toMatchObject(refusal)
  })

  test("is not attached to: there is nothing to detach or to acknowledge", async () => {
    const execution_id = bystanders.ended
    for (const [method, params] of [
      ["detach", {}],
      ["ack", { next: "1.0.0.0.0.0" }],
    ] as const) {
      const error = await session.refused(method, { ...params, execution_id })
      const data = { reason: "WRONG_STATE", state: "ended" }
      expect(error).toMatchObject({ code: -32008, data })
    }
  })

  test("gets no signal that does not exist", async () => {
    const execution_id = bystanders.running
    for (const signal of ["NOSUCH", "SIGSIG", "9; rm -rf /"]) {
      const error = await bystanders.untouchedBy(() =>
        session.refused("control", { type: "SIGNAL", execution_id, signal }),
      )
      expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
    }
  })
})
