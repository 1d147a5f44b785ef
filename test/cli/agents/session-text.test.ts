import { describe, expect, test } from "bun:test"
import { questionText } from "../../../src/cli/agents/session-text.ts"
import type { OpenQuestion } from "../../../src/protocol/agent.ts"

const question: OpenQuestion = {
  execution_id: "abcdefghijklmnopqrstuvwxyz",
  question_id: "q1",
  kind: "permission",
  tool: "Bash",
  title: null,
  description: "Lists the files",
  input: { command: "ls" },
  suggestions: [],
  subagent: null,
  needs_person: false,
  defaults_to_no: false,
  replaces: null,
  asked_at: "2026-11-16T12:00:00.000Z",
}

describe("a question in words", () => {
  test("says what it is about, and how to answer it", () => {
    expect(questionText({ serviceOptions: [] }, question)).toBe(`\
abcdefgh q1: Bash (Lists the files), asked at 2026-11-16T12:00:00.000Z
  {"command":"ls"}
  cc-executor agent answer abcdefgh q1 allow | deny
`)
  })

  test("for a service that was named names it again", () => {
    const serviceOptions = ["--context", "team"]

    const [, , answer] = questionText({ serviceOptions }, question).split("\n")

    expect(answer).toBe("  cc-executor agent answer --context team abcdefgh q1 allow | deny")
  })

  test("has no line that the agent has made up", () => {
    const forged = "x), asked\n\nzyxwvuts q7: Read (harmless"

    const text = questionText(
      { serviceOptions: [] },
      { ...question, description: forged, tool: "Bash\nzyxwvuts" },
    )

    expect(text.split("\n")).toHaveLength(
      questionText({ serviceOptions: [] }, question).split("\n").length,
    )
    expect(text).not.toMatch(/^zyxwvuts/m)
  })
})
