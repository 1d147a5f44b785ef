import { describe, expect, test } from "bun:test"
import type { AgentSignal, QuestionAsked } from "../../../src/agent/port.ts"
import type { OwnedRule } from "../../../src/execution/judge-question.ts"
import { StagedSession, state } from "./scripted-agent.ts"

const rule = (name: string, command: string, more: Partial<OwnedRule>): OwnedRule => ({
  name,
  tool: "Bash",
  input: { command },
  decide: "allow",
  from: "service",
  ...more,
})

function asks(requestId: string, command: string, more: Partial<QuestionAsked> = {}): AgentSignal {
  const question: QuestionAsked = {
    kind: "permission",
    tool: "Bash",
    input: { command },
    title: "Bash",
    description: null,
    suggestions: [{ rule: command }],
    subagent: null,
    needs_person: false,
    defaults_to_no: false,
    ...more,
  }
  return { kind: "question", requestId, question }
}

const rules = [
  rule("tests", "npm test", {}),
  rule("no-push", "git push.*", { decide: "deny", message: "A person pushes." }),
  rule("slow", "make .*", { decide: "ask", after: "10m", then: "deny", from: "session" }),
  rule("soon", "ls.*", { decide: "ask", after: "30s", then: "allow" }),
]

function staged(...questions: AgentSignal[]): StagedSession {
  const stage = new StagedSession({}, "begin", rules)
  stage.process.say({ kind: "ready" }, ...questions)
  return stage
}

const minute = 60_000

describe("a question that a rule decides", () => {
  test("is answered at once, by the rule's name, and is never open", () => {
    const stage = staged(asks("r1", "npm test"))

    expect(stage.process.answers).toEqual([
      {
        requestId: "r1",
        answer: { behavior: "allow", input: { command: "npm test" }, suggestions: [] },
      },
    ])
    expect(stage.session.status().questions).toEqual([])
    expect(stage.named("question")).toMatchObject([{ question_id: "q1", decided_by: "rule:tests" }])
    expect(stage.named("answer")).toMatchObject([
      {
        question_id: "q1",
        behavior: "allow",
        by: "rule:tests",
        rule: "tests",
        rule_from: "service",
      },
    ])
    expect(stage.decisions).toEqual([
      {
        question_id: "q1",
        behavior: "allow",
        by: "rule:tests",
        rule: "tests",
        rule_from: "service",
        tool: "Bash",
      },
    ])
    expect(stage.order(answer("q1"))).toMatchObject({
      reason: "ALREADY_ANSWERED",
      details: { by: "rule:tests" },
    })
  })

  test("is denied with the rule's name and message, which the agent is told", () => {
    const stage = staged(asks("r1", "npm test && git push origin"))

    const message = "Denied by the approval rule no-push: A person pushes."
    expect(stage.process.answers).toMatchObject([{ answer: { behavior: "deny", message } }])
    expect(stage.named("answer")).toMatchObject([{ by: "rule:no-push", message }])
  })

  test("stays a person's where the agent says that it needs one, or where it is a choice", () => {
    const stage = staged(
      asks("r1", "npm test", { needs_person: true }),
      asks("r2", "npm test", { kind: "choice" }),
      asks("r3", "npm test", { kind: "elicitation", tool: null }),
      asks("r4", "ls", { needs_person: true }),
    )
    stage.clock.advance(60 * minute)

    expect(stage.process.answers).toEqual([])
    expect(stage.session.status().questions).toHaveLength(4)
    expect(stage.named("question").map(({ answer_by }) => answer_by)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test("is remembered as the agent suggests, when a person answers it so", () => {
    const stage = staged(asks("r1", "ls"))
    stage.order({ ...answer("q1"), remember: true })

    expect(stage.process.answers[0]?.answer).toMatchObject({ suggestions: [{ rule: "ls" }] })
    stage.clock.advance(minute)
    expect(stage.named("answer")).toHaveLength(1)
  })
})

describe("a question that a rule leaves to people for a time", () => {
  test("says until when, and is answered then, not before", () => {
    const stage = staged(asks("r1", "make all"))
    expect(stage.session.status().questions).toMatchObject([
      { rule: "slow", answer_by: "2026-01-01T00:10:00.000Z", answer_then: "deny" },
    ])
    expect(stage.session.status().activity).toMatchObject({ until: "2026-01-01T00:10:00.000Z" })
    stage.clock.advance(10 * minute - 1)
    expect(stage.process.answers).toEqual([])
    stage.clock.advance(1)

    const message = "Nobody answered within 600 s. Denied by the approval rule slow."
    expect(stage.process.answers).toMatchObject([{ answer: { behavior: "deny", message } }])
    expect(stage.named("answer")).toMatchObject([
      { by: "deadline", rule: "slow", rule_from: "session" },
    ])
    expect(stage.decisions).toMatchObject([{ by: "deadline", rule: "slow", behavior: "deny" }])
    expect(state(stage)).toBe("thinking")
  })

  test("is a person's who answers in time", () => {
    const stage = staged(asks("r1", "make all"))
    stage.clock.advance(9 * minute)
    stage.order(answer("q1"), "bob")
    stage.clock.advance(day)

    expect(stage.named("answer")).toMatchObject([{ by: "bob", behavior: "allow" }])
    expect(stage.decisions).toEqual([])
  })

  test("keeps the time it has left while the execution is paused", () => {
    const stage = staged(asks("r1", "make all"))
    stage.clock.advance(minute)
    stage.clock.sleep(60 * minute)
    stage.clock.advance(minute)

    expect(stage.process.answers).toEqual([])
    const [question] = stage.session.status().questions
    expect(question?.answer_by?.slice(0, 16)).toMatch(/^2026-01-01T01:(?:09|10)$/)
    stage.clock.advance(8 * minute)
    expect(stage.named("answer")).toMatchObject([{ by: "deadline" }])
  })

  test("has its whole time again when the agent's program dies and asks again", async () => {
    const stage = staged(asks("r1", "make all"), asks("r2", "ls"))
    stage.clock.advance(20_000)
    stage.process.say({ kind: "withdrawn", requestId: "r2" })
    await stage.process.dies("was killed by SIGKILL")
    stage.clock.advance(0)
    stage.process.say({ kind: "ready" }, asks("r3", "make all"))
    stage.clock.advance(10 * minute - 1)
    expect(stage.process.answers).toEqual([])
    stage.clock.advance(1)

    expect(stage.process.answers).toMatchObject([{ requestId: "r3" }])
    expect(stage.named("answer").map(({ question_id, by }) => [question_id, by])).toEqual([
      ["q2", "agent"],
      ["q3", "deadline"],
    ])
  })
})

const day = 86_400_000

const answer = (questionId: string) =>
  ({
    order: "answer",
    questionId,
    behavior: "allow",
    updatedInput: null,
    message: null,
    remember: false,
  }) as const
