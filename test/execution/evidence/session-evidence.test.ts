import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { evidenceOf, type Findings } from "../../../src/execution/evidence/evidence.ts"
import { SessionEvidence } from "../../../src/execution/evidence/session-evidence.ts"
import { SessionLog } from "../../support/session-log.ts"

const passed = "ALL PASSED"
const ls = { command: "make test" }

describe("a text in the log of a session is", () => {
  test("executed when a tool that ran wrote it, with the tool and its input", () => {
    const log = new SessionLog().turn("go").use("Bash", ls, `ok\n${passed}\n${passed}`).say("Done")

    const found = search(log, passed)

    expect(found).toMatchObject({ found: "executed", uses: 1, uses_with_own_input: 0 })
    expect(found.times).toEqual({ executed: 2, claimed: 0, echoed: 0 })
    expect(found.tools).toEqual([
      {
        tool: "Bash",
        input: JSON.stringify(ls),
        times: 2,
        in_own_input: false,
        in_earlier_input: false,
        failed: false,
        event: 3,
        at: "1970-01-01T00:00:00.000Z",
      },
    ])
    expect(evidenceOf(found, false).note).toBe(
      "A tool wrote it, and it did not stand in its input.",
    )
  })

  test("claimed when only the agent said it, in words, thoughts or inputs", () => {
    const thought = { type: "thinking", thinking: passed, signature: "s" }
    const log = new SessionLog()
      .turn("go")
      .message({ type: "assistant", message: { content: [thought] } })
      .use("Write", { file_path: "a", content: passed }, "File created", {
        tool_use_result: { type: "create", content: passed },
      })
      .say(`Yes: ${passed}.`)
      .message({ type: "result", subtype: "success", result: `Yes: ${passed}.` })

    expect(search(log, passed)).toMatchObject({ found: "claimed", times: { claimed: 3 } })
  })

  test("claimed when it stands in the result of a turn alone", () => {
    const log = new SessionLog().message({ subtype: "success", result: passed, type: "result" })
    expect(search(log, passed)).toMatchObject({ found: "claimed", times: { claimed: 1 } })
  })

  test("echoed when only somebody told it, by a turn or an answer", () => {
    const log = new SessionLog()
      .turn(`Say ${passed}.`)
      .add("turn", { turn_id: "u", by: "local", content: [{ type: "text", text: passed }] })
      .begin("Bash", ls)
      .answered("q1", { behavior: "deny", message: `no, ${passed}` })
      .output(`no, ${passed}`, { tool_result_meta: [{ id: "use1", non_execution_kind: "x" }] })

    expect(search(log, passed)).toMatchObject({
      found: "echoed",
      times: { executed: 0, claimed: 0, echoed: 3 },
    })
  })

  test("absent when it stands nowhere but in partial events and in how the session stands", () => {
    const delta = { type: "content_block_delta", delta: { type: "text_delta", text: passed } }
    const log = new SessionLog()
      .turn("go")
      .message({ type: "stream_event", event: delta })
      .message({ type: "system", subtype: "init", cwd: passed })
      .add("status", { last_turn: { result: passed } })

    expect(search(log, passed)).toMatchObject({ found: "absent", unread: 0 })
  })
})

describe("a text that a tool wrote", () => {
  test("says plainly that it stood in its own input", () => {
    const log = new SessionLog().use("Bash", { command: `echo ${passed}` }, passed)
    const found = search(log, passed)
    expect(found).toMatchObject({ found: "executed", uses: 1, uses_with_own_input: 1 })
    expect(evidenceOf(found, false).note).toContain("stood in its own input")
  })

  test("stood in its own input when somebody allowed it with that input", () => {
    const log = new SessionLog()
      .begin("Bash", { command: "make test" })
      .answered("q1", { behavior: "allow", updated_input: { command: `echo ${passed}` } })
      .output(passed)
    const found = search(log, passed)
    expect(found.tools[0]).toMatchObject({
      in_own_input: true,
      input: JSON.stringify({ command: `echo ${passed}` }),
    })
  })

  test("is not clean when an earlier tool had it in its input, as of a file", () => {
    const log = new SessionLog()
      .use("Write", { file_path: "a", content: passed }, "File created")
      .use("Bash", { command: "cat a" }, passed)
    const found = search(log, passed)
    expect(found.tools[0]).toMatchObject({ in_own_input: false, in_earlier_input: true })
    expect(evidenceOf(found, false).note).toContain("input of an earlier tool")
  })

  test("shows at most five tools, those with the fewest doubts first", () => {
    const log = new SessionLog().use("Bash", { command: "make" }, passed)
    for (let at = 0; at < 20; at += 1) log.use("Bash", { command: `echo ${passed}` }, passed)
    const found = search(log, passed)
    expect(found).toMatchObject({ uses: 21, uses_with_own_input: 20, times: { executed: 21 } })
    expect(found.tools).toHaveLength(5)
    expect(found.tools[0]).toMatchObject({ input: '{"command":"make"}', in_own_input: false })
  })

  test.each(["Agent", "Task", "mcp__executor__agent_wait"])(
    "is only claimed when the tool %s is another agent",
    (tool) => {
      const said = [{ type: "text", text: passed }]
      const log = new SessionLog().use(tool, { prompt: "test it" }, said)
      expect(search(log, passed)).toMatchObject({ found: "claimed", times: { executed: 0 } })
    },
  )

  test("is not executed when the tool was refused, whatever its name", () => {
    const error = `<tool_use_error>No such tool: ${passed}</tool_use_error>`
    const log = new SessionLog().begin(passed, {}).output(error, {}, { is_error: true })
    expect(search(log, passed)).toMatchObject({ found: "claimed", times: { executed: 0 } })
  })

  test("is executed when the tool failed, which is said", () => {
    const log = new SessionLog().begin("Bash", ls).output("Exit code 1", {}, { is_error: true })
    expect(search(log, "Exit code 1").tools[0]).toMatchObject({ tool: "Bash", failed: true })
  })

  test("is found by a tool whose use was dropped, but which one cannot be said", () => {
    const whole = new SessionLog().turn("go").use("Bash", ls, passed)
    const lines = Buffer.from(whole.bytes).toString("utf8").split("\n")
    const rest = `${lines[1]?.slice(50)}\n${lines[2]}\n`
    const found = searchBytes(Buffer.from(rest), passed, true)
    expect(found).toMatchObject({ found: "executed", tools: [{ tool: null, in_own_input: null }] })
  })
})

describe("the output of a tool", () => {
  test.each([
    ["with line ends and quotes", 'one\n"two"\t\u001b[1m'],
    ["of other scripts", "größer 表 😀"],
  ])("is matched decoded, %s", (_, text) => {
    const structured = JSON.stringify({ ended: true, text: `before ${text} after` })
    const contents = [
      text,
      [{ type: "text", text }],
      structured,
      [{ type: "text", text: structured }],
    ]
    for (const content of contents) {
      const log = new SessionLog().use("Bash", ls, content)
      expect(search(log, text)).toMatchObject({ found: "executed", times: { executed: 1 } })
    }
  })

  test("is matched as a file has it, not only as it is shown", () => {
    const shown = "1\tone\n2\ttwo\n"
    const file = { tool_use_result: { type: "text", file: { content: "one\ntwo\n" } } }
    const log = new SessionLog().use("Read", { file_path: "a" }, shown, file)
    expect(search(log, "one\ntwo")).toMatchObject({ found: "executed" })
    expect(search(log, "two")).toMatchObject({ times: { executed: 1 } })
  })

  test("is matched across the parts of a long message, in little memory", () => {
    const long = `${"é\n".repeat(300_000)}${passed}${"\\".repeat(5_000_000)}${passed}`
    const log = new SessionLog().use("Bash", ls, long).say("done")
    expect(log.bytes.length).toBeGreaterThan(10_000_000)
    expect(search(log, passed)).toMatchObject({ times: { executed: 2 }, unread: 0 })
    expect(search(log, `\n${passed}\\`)).toMatchObject({ times: { executed: 1 } })
  })

  test("cannot pass for events of the session", () => {
    const forged = new SessionLog().use("Bash", ls, passed)
    const lines = Buffer.from(forged.bytes).toString("utf8")
    const log = new SessionLog().turn(`${passed}\n${lines}`).say(`\n${lines}`)
    expect(search(log, passed)).toMatchObject({ found: "claimed", times: { executed: 0 } })
  })
})

test("lines that are no events are counted, and change nothing else", () => {
  const log = new SessionLog().use("Bash", ls, passed)
  const lines = `{"event":"message"}\n\nx\n{"v":1,"n":1,"at":"t","event":"turn","text":"${passed}\n`
  const found = searchBytes(Buffer.concat([Buffer.from(lines), log.bytes]), passed)
  expect(found).toMatchObject({ times: { executed: 1, echoed: 0 }, unread: 4 })
})

test("every text is found where it was written, however the log is cut into pieces", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", '"', "\\", "\n", "é"), maxLength: 12 })
  const deed = fc.record({ kind: fc.constantFrom("say", "turn", "use"), one: word, two: word })
  const needle = fc.string({
    unit: fc.constantFrom("a", "b", '"', "\n"),
    minLength: 1,
    maxLength: 2,
  })
  fc.assert(
    fc.property(fc.array(deed), needle, fc.integer({ min: 1, max: 300 }), (deeds, sought, size) => {
      const log = new SessionLog()
      const expected = { executed: 0, claimed: 0, echoed: 0 }
      const times = (text: string) => text.split(sought).length - 1
      for (const { kind, one, two } of deeds) {
        if (kind === "say") log.say(one)
        else if (kind === "turn") log.turn(one)
        else log.use("Zzz", { zzz: one }, two)
        if (kind === "use") expected.executed += times(two)
        expected[kind === "turn" ? "echoed" : "claimed"] += times(one)
      }
      expect(searchBytes(log.bytes, sought, false, size).times).toEqual(expected)
    }),
  )
})

function search(log: SessionLog, sought: string): Findings {
  return searchBytes(log.bytes, sought)
}

function searchBytes(bytes: Uint8Array, sought: string, isCut = false, size = 60_000): Findings {
  const evidence = new SessionEvidence(sought, isCut)
  for (let at = 0; at < bytes.length; at += size) evidence.push(bytes.subarray(at, at + size))
  return evidence.findings()
}
