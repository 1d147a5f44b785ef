import { describe, expect, test } from "bun:test"
import type { AgentSignal } from "../../../src/agent/port.ts"
import { day, ended, StagedSession, send, state, succeeded } from "./scripted-agent.ts"

const allow = (questionId: string) =>
  ({
    order: "answer",
    questionId,
    behavior: "allow",
    updatedInput: null,
    message: null,
    remember: false,
  }) as const

function question(requestId: string, command: string, subagent: string | null = null): AgentSignal {
  return {
    kind: "question",
    requestId,
    question: {
      kind: "permission",
      tool: "Bash",
      input: { command },
      title: "Bash",
      description: null,
      suggestions: [{ rule: command }],
      subagent,
      needs_person: false,
      defaults_to_no: false,
    },
  }
}

describe("turns", () => {
  test("are given one after another, once the agent takes them", () => {
    const stage = new StagedSession({}, "begin")
    stage.order(send("second"))
    expect(stage.process.sent).toEqual([])

    stage.process.say({ kind: "ready" })
    expect(stage.process.sent.map(({ turnId }) => turnId)).toEqual(["first"])

    stage.process.say(succeeded)
    expect(stage.process.sent.map(({ turnId }) => turnId)).toEqual(["first", "second"])
    expect(stage.session.status().turns).toMatchObject({ accepted: 2, ended: 1, waiting: 0 })
  })

  test("are on record when they are accepted, and the same one again is the same turn", () => {
    const stage = new StagedSession()
    stage.process.say({ kind: "ready" })

    expect([stage.order(send("a")), stage.order(send("a"), "bob"), stage.order(send("a"))]).toEqual(
      [undefined, undefined, undefined],
    )
    expect(stage.named("turn")).toMatchObject([{ turn_id: "a", by: "alice", text: "do a" }])
    expect(stage.process.sent).toHaveLength(1)
  })

  test("that are urgent interrupt the one under way, and go before those that wait", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" })
    stage.order(send("waits"))
    stage.order(send("urgent", "now"), "bob")

    expect(stage.process.interrupts).toBe(1)
    stage.process.say(ended({ outcome: "interrupted", result: null }))
    expect(stage.named("turn-ended")).toMatchObject([{ outcome: "interrupted", by: "bob" }])
    expect(stage.process.sent.map(({ turnId }) => turnId)).toEqual(["first", "urgent"])
  })

  test("are interrupted once they have ended, and not before", async () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" })
    stage.order({ order: "interrupt" })
    await Bun.sleep(0) // whatever would be answered by then
    const before = stage.answers.length
    stage.process.say(ended({ outcome: "interrupted", result: null }))
    await Bun.sleep(0)

    expect([before, stage.answers.length]).toEqual([0, 1])
  })

  test("are refused while the session ends, which lets those before finish", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" })
    stage.order({ order: "end", now: false })

    expect(stage.order(send("late"))?.reason).toBe("WRONG_STATE")
    expect(stage.process.isInputEnded).toBe(false)
    stage.process.say(succeeded)
    expect(stage.process.isInputEnded).toBe(true)
  })

  test("that are interrupted in vain cost the agent's program, not the session", async () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" })
    stage.order({ order: "interrupt" })
    await Promise.resolve()
    stage.clock.advance(15_000)
    expect(stage.process.signals).toEqual(["SIGKILL"])

    await stage.process.dies("was killed by SIGKILL")
    stage.clock.advance(0)
    stage.process.say({ kind: "ready" })
    expect(stage.named("turn-ended")).toMatchObject([{ outcome: "interrupted" }])
    expect(stage.process.sent).toEqual([])
  })
})

describe("questions", () => {
  test("stay open for days, several at once, and the first answer counts", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, question("r1", "ls"), question("r2", "rm", "sub"))
    stage.clock.advance(day)

    expect(stage.session.status().questions.map(({ question_id }) => question_id)).toEqual([
      "q1",
      "q2",
    ])
    expect(state(stage)).toBe("question")
    expect(stage.order(allow("q1"), "bob")).toBeUndefined()
    expect(stage.order(allow("q1"), "carol")).toMatchObject({
      reason: "ALREADY_ANSWERED",
      details: { by: "bob", behavior: "allow" },
    })
    expect(stage.process.answers).toEqual([
      {
        requestId: "r1",
        answer: { behavior: "allow", input: { command: "ls" }, suggestions: [] },
      },
    ])
    expect(stage.named("answer")).toMatchObject([{ question_id: "q1", by: "bob" }])
  })

  test("are answered with other input, or remembered as the agent suggests", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, question("r1", "rm -r /"))
    stage.order({ ...allow("q1"), updatedInput: { command: "ls" }, remember: true })

    expect(stage.process.answers[0]?.answer).toEqual({
      behavior: "allow",
      input: { command: "ls" },
      suggestions: [{ rule: "rm -r /" }],
    })
  })

  test("that the agent withdraws are told as withdrawn", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, question("r1", "ls"), {
      kind: "withdrawn",
      requestId: "r1",
    })

    expect(stage.session.status().questions).toEqual([])
    expect(stage.named("answer")).toMatchObject([{ behavior: "withdrawn", by: "agent" }])
    expect(stage.order(allow("q1"))?.details).toMatchObject({ by: "agent" })
  })

  test("that are asked again after a crash name those that they replace", async () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, question("r1", "ls"), question("r2", "other"))
    await stage.process.dies("was killed by SIGKILL")
    expect(stage.order(allow("q1"))?.reason).toBe("WRONG_STATE")
    expect(stage.session.status().questions).toHaveLength(2)

    stage.clock.advance(0)
    stage.process.say({ kind: "ready" }, question("s1", "ls"))
    expect(stage.named("question").at(-1)).toMatchObject({ question_id: "q3", replaces: "q1" })
    expect(stage.order(allow("q1"))?.details).toEqual({ replaced_by: "q3" })
    expect(stage.order(allow("q3"))).toBeUndefined()

    stage.process.say(succeeded) // and the other one was never asked again
    expect(stage.named("answer").at(-1)).toMatchObject({
      question_id: "q2",
      behavior: "withdrawn",
    })
  })
})

describe("the end", () => {
  test("has an exit code that tells the last turn's outcome", async () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, succeeded)
    stage.order({ order: "end", now: false })
    await stage.process.dies("exited with 0")
    expect(stage.endedWith).toEqual({ cause: null, exitCode: 0 })

    const failing = new StagedSession({}, "begin")
    failing.process.say({ kind: "ready" }, ended({ outcome: "error", result: "no" }))
    failing.order({ order: "end", now: false })
    await failing.process.dies("exited with 0")
    expect(failing.endedWith).toEqual({ cause: null, exitCode: 1 })
  })

  test("by a signal leaves no question open, and the agent is killed if it must", async () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" }, question("r1", "ls"))
    stage.session.terminated()
    stage.clock.advance(5000)
    expect(stage.process.signals).toEqual(["SIGKILL"])

    await stage.process.dies("was killed by SIGKILL")
    expect(stage.endedWith).toEqual({ cause: null, exitCode: 143 })
    expect(stage.session.status().questions).toEqual([])
    expect(stage.named("answer")).toMatchObject([{ behavior: "withdrawn" }])
  })
})
