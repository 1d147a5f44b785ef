import { describe, expect, test } from "bun:test"
import { Conversation } from "../../../../src/cli/agents/view/conversation.ts"
import {
  answer,
  assistant,
  notices,
  question,
  result,
  said,
  textStart,
  turn,
  turnEnded,
  used,
  word,
} from "./session-events.ts"

const own = {
  isTurn: (turnId: string) => turnId === "turn of me",
  isAnswer: (questionId: string) => questionId === "mine",
}

/** The lines that events make, without those that are empty. */
function shown(...events: Record<string, unknown>[]): string[] {
  const conversation = new Conversation(own)
  const lines = notices(...events).flatMap((notice) => conversation.read(notice))
  return lines.map(({ prefix, text }) => `${prefix}${text}`).filter((text) => text !== "")
}

describe("what an agent says", () => {
  test("is shown line by line as it comes, and once", () => {
    const conversation = new Conversation()
    const read = (...events: Record<string, unknown>[]) =>
      notices(...events)
        .flatMap((notice) => conversation.read(notice))
        .map(({ text }) => text)

    expect(read(textStart, word("Hel"), word("lo\nwor"))).toEqual(["Hello"])
    expect(conversation.unfinished).toBe("wor")
    expect(read(word("ld"), said("Hello\nworld!"))).toEqual(["world!"])
    expect(conversation.unfinished).toBe("")
  })

  test("is shown whole to those who came in the middle of it", () => {
    expect(shown(word("lo\nwor"), word("ld"), said("Hello\nworld"))).toEqual(["Hello", "world"])
  })

  test("is not cut in two by what others do meanwhile", () => {
    expect(shown(textStart, word("Hel"), turn("And then?"), word("lo\nyou"))).toEqual([
      "Hello",
      "anna> And then?",
    ])
  })

  test("gives way to a question, so that nobody answers what is not shown", () => {
    const asks = question("q1", "Bash", { command: "make" })
    expect(shown(textStart, word("Hel"), turn("And?"), asks, word("lo\n"))).toEqual([
      "Hel",
      "anna> And?",
      "? q1 It wants to use Bash",
      "  $ make",
      "lo",
    ])
  })

  test("stays as far as it came when the turn is interrupted", () => {
    expect(shown(textStart, word("Hel"), turnEnded("interrupted", "[note]"))).toEqual([
      "Hel",
      "— the turn did not succeed: interrupted",
    ])
  })

  test("is not repeated as the result of the turn, which may say something else", () => {
    expect(shown(said("All done."), turnEnded("success", "All done."))).toEqual([
      "All done.",
      "— done",
    ])
    expect(shown(turnEnded("error", "No credit."))).toEqual([
      "No credit.",
      "— the turn did not succeed: error",
    ])
  })

  test("is marked where a subagent says it", () => {
    expect(shown(said("I look.", "call 1"))).toEqual(["  │ I look."])
  })

  test("is passed over where it is no message that is known", () => {
    const odd = [null, 1, "text", [], { type: "dance" }, { type: "assistant", message: {} }]
    const messages = odd.map((message) => ({ event: "message", message }))
    expect(shown(...messages, assistant([null, { type: "odd" }, { type: "text" }]))).toEqual([])
  })

  test("is named where it is too long for one event", () => {
    const part = (more: Record<string, unknown>) => ({
      event: "message",
      text: "x".repeat(600 * 1024),
      ...more,
    })
    expect(shown(part({ part: 1, last: false }), part({ part: 2, last: true }))).toEqual([
      "(a message of 1.2 MiB: `logs --raw` has it)",
    ])
  })
})

describe("a tool", () => {
  test("is shown with what it is used for, and the beginning of what comes of it", () => {
    const stdout = Array.from({ length: 10_000 }, (_, index) => `${index + 1}`).join("\n")
    expect(
      shown(
        used("1", "Bash", { command: "seq 10000", description: "counts" }),
        result("1", "<too much>", { tool_use_result: { stdout, stderr: "" } }),
      ),
    ).toEqual(["● Bash seq 10000", "  └ 1", "    2", "    3", "    … 9,997 more lines"])
  })

  test("is named with its result, where others were used meanwhile", () => {
    expect(
      shown(
        used("1", "Read", { file_path: "a" }),
        used("2", "Read", { file_path: "b" }),
        result("1", "one"),
        result("2", [{ type: "text", text: "two" }, { type: "image" }]),
      ),
    ).toEqual(["● Read a", "● Read b", "  └ Read: one", "  └ two", "    (image)"])
  })

  test("that changes a file shows the change, but not twice", () => {
    const input = { file_path: "a", old_string: "one\ntwo", new_string: "one\nzwei" }
    const lines = ["-two", "+zwei"]
    const patch = { structuredPatch: [{ oldStart: 2, newStart: 2, lines }] }
    const done = result("1", "Done.", { tool_use_result: patch })
    expect(shown(used("1", "Edit", input), done)).toEqual([
      "● Edit a",
      "    @@ line 2",
      "    - two",
      "    + zwei",
    ])
    expect(
      shown(used("1", "Edit", input), question("mine", "Edit", input), answer("mine"), done),
    ).toEqual([
      "● Edit a",
      "? mine It wants to use Edit",
      "    a",
      "      one",
      "    - two",
      "    + zwei",
      "  mine allowed",
      "  └ Done.",
    ])
  })
})

describe("people", () => {
  test("are named, but for the one who looks", () => {
    expect(shown(turn("Hello", "me"), turn("Hello, too", "bob"))).toEqual([
      "> Hello",
      "bob> Hello, too",
    ])
    expect(
      shown(
        question("mine", "Bash", { command: "a" }),
        answer("mine"),
        question("q2", "Bash", { command: "b" }),
        answer("q2", "bob", { behavior: "deny", message: "Not now." }),
      ),
    ).toEqual([
      "? mine It wants to use Bash",
      "  $ a",
      "  mine allowed",
      "? q2 It wants to use Bash",
      "  $ b",
      "  q2 denied by bob: Not now.",
    ])
  })
})

describe("the reason of a denial", () => {
  test("is not repeated as what the tool answered", () => {
    expect(
      shown(
        used("t1", "Bash", { command: "make" }),
        question("q1", "Bash", { command: "make" }),
        answer("q1", "bob", { behavior: "deny", message: "Not now." }),
        result("t1", "Not now."),
        used("t2", "Bash", { command: "cat why" }),
        result("t2", "Not now."),
      ),
    ).toEqual([
      "● Bash make",
      "? q1 It wants to use Bash",
      "  $ make",
      "  q1 denied by bob: Not now.",
      "● Bash cat why",
      "  └ Not now.",
    ])
  })
})

describe("several questions", () => {
  test("are shown one after the other, in full, each when it is to be answered", () => {
    const write = { file_path: "a", content: "one\n", mode: "x" }
    expect(
      shown(
        question("q1", "Bash", { command: "one\ntwo", timeout: 5 }),
        question("q2", "Write", write),
        answer("q1", "rule:tests"),
      ),
    ).toEqual([
      "? q1 It wants to use Bash",
      "  $ one",
      "    two",
      "    timeout: 5",
      "  q1 allowed by rule:tests",
      "? q2 It wants to use Write",
      "    a",
      "    + one",
      "    mode: x",
    ])
  })

  test("that are asked again stand in the place of the earlier ones", () => {
    const conversation = new Conversation()
    const again = { ...question("q2", "Bash", {}), replaces: "q1" }
    for (const notice of notices(question("q1", "Bash", {}), again)) conversation.read(notice)
    expect(conversation.questions.map(({ question_id }) => question_id)).toEqual(["q2"])
  })
})
