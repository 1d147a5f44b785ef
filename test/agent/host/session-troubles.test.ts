import { describe, expect, test } from "bun:test"
import type { AgentSignal } from "../../../src/agent/port.ts"
import { day, ended, StagedSession, send, state, succeeded } from "./scripted-agent.ts"

describe("an agent's program that dies", () => {
  test("is started again, with the turn that it was at, under the same name", async () => {
    const stage = new StagedSession({}, "begin")
    stage.leftovers = 2
    stage.process.say({ kind: "ready" })
    await stage.process.dies("was killed by SIGKILL")

    expect(state(stage)).toBe("starting")
    stage.clock.advance(0)
    expect(stage.process.run).toEqual({ kind: "resume" })
    stage.process.say({ kind: "ready" })
    expect(stage.process.sent).toEqual([{ turnId: "first", content: "begin" }])
    expect(stage.named("resumed")).toMatchObject([{ after: "crash", attempt: 1 }])
    expect(stage.named("problem")[0]?.["problem"]).toContain("left behind were ended: 2")
  })

  test("again and again ends the session with its cause", async () => {
    const stage = new StagedSession({}, "begin")
    for (let death = 0; death < 6; death += 1) {
      await stage.process.dies("exited with 1")
      stage.clock.advance(60_000)
    }

    expect(stage.processes).toHaveLength(6)
    expect(stage.endedWith).toEqual({ cause: "agent-failed", exitCode: 1 })
    expect(stage.named("turn-ended")).toMatchObject([{ turn_id: "first", outcome: "error" }])
  })

  test("counts anew, and the session goes on counting", async () => {
    const stage = new StagedSession({}, "begin")
    const tokens = { input: 10, output: 5, cache_read: 0, cache_creation: 0 }
    const cost = (costUsd: number): AgentSignal => ({
      kind: "cost",
      usage: { costUsd, byModel: { m: { ...tokens, cost_usd: costUsd } }, contextWindow: null },
    })
    stage.process.say({ kind: "ready" }, cost(0.5))
    await stage.process.dies("exited with 1")
    stage.clock.advance(0)
    stage.process.say({ kind: "ready" }, cost(0.25))

    expect(stage.session.status().usage).toMatchObject({
      cost_usd: 0.75,
      tokens: { input: 20, output: 10 },
    })
  })
})

describe("a usage limit", () => {
  const limited = (resets_at: string): AgentSignal => ({
    kind: "limit",
    limit: { status: "rejected", type: "five_hour", resets_at, utilization: 1 },
  })
  const atLimit = ended({ outcome: "limit", result: "limit", mayContinue: "at-limit" })

  test("is waited for, then the turn goes on once, by itself", () => {
    const stage = new StagedSession({}, "begin")
    const resetsAt = new Date(stage.clock.now().getTime() + day).toISOString()
    stage.process.say({ kind: "ready" }, limited(resetsAt), atLimit)

    expect(stage.session.status().activity).toMatchObject({ state: "limit" })
    stage.clock.advance(day - 1)
    expect(stage.process.sent).toHaveLength(1)
    stage.clock.advance(60_001)
    expect(stage.process.sent.map(({ content }) => content)).toEqual([
      "begin",
      "Continue from where you left off.",
    ])
    expect(stage.named("resumed")).toMatchObject([{ after: "limit" }])
    stage.process.say(succeeded)
    expect(stage.named("turn-ended")).toMatchObject([{ turn_id: "first", outcome: "success" }])
  })

  test("that the agent waits for itself is shown, until the API answers", () => {
    const stage = new StagedSession({}, "begin")
    const resetsAt = new Date(stage.clock.now().getTime() + 60_000).toISOString()
    stage.process.say({ kind: "ready" }, limited(resetsAt))
    expect(stage.session.status().activity).toMatchObject({ state: "limit", until: resetsAt })

    stage.process.say({ kind: "thinking" })
    expect(state(stage)).toBe("thinking")
  })

  test("ends the session where it was told to stop", () => {
    const stage = new StagedSession({ onLimit: "stop" }, "begin")
    stage.process.say({ kind: "ready" }, atLimit)

    expect(stage.named("turn-ended")).toMatchObject([{ outcome: "limit" }])
    expect(stage.process.isInputEnded).toBe(true)
    expect(stage.session.status().end?.cause).toBe("usage-limit")
  })

  test("can be interrupted", () => {
    const stage = new StagedSession({}, "begin")
    const resetsAt = new Date(stage.clock.now().getTime() + day).toISOString()
    stage.process.say({ kind: "ready" }, limited(resetsAt), atLimit)
    stage.order({ order: "interrupt" }, "bob")

    expect(stage.named("turn-ended")).toMatchObject([{ outcome: "interrupted", by: "bob" }])
    expect(state(stage)).toBe("idle")
    stage.clock.advance(2 * day)
    expect(stage.process.sent).toHaveLength(1)
  })
})

describe("an API that fails", () => {
  const failed = ended({ outcome: "error", result: "529", mayContinue: "later" })

  test("is asked again after longer and longer waits, and not for ever", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say({ kind: "ready" })
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      stage.process.say(failed)
      expect(stage.session.status().activity).toMatchObject({ state: "retrying", attempt })
      stage.clock.advance(300_000)
      expect(stage.process.sent).toHaveLength(1 + attempt)
    }
    stage.process.say(failed)
    expect(stage.named("turn-ended")).toMatchObject([{ outcome: "error", result: "529" }])
  })

  test("shows the agent's own tries", () => {
    const stage = new StagedSession({}, "begin")
    stage.process.say(
      { kind: "ready" },
      { kind: "retrying", attempt: 2, mostAttempts: 10, delayMs: 1000, why: "overloaded" },
    )

    expect(stage.session.status().activity).toMatchObject({
      state: "retrying",
      attempt: 2,
      most_attempts: 10,
    })
  })
})

describe("a budget", () => {
  const response: AgentSignal = { kind: "response", isSubagent: false }

  test("of turns warns before, and ends the session when one more is begun", () => {
    const stage = new StagedSession({ maxTurns: 5 }, "begin")
    stage.process.say({ kind: "ready" }, response, response, response)
    expect(stage.named("budget")).toEqual([])
    stage.process.say(response)
    expect(stage.named("budget")).toMatchObject([{ budget: "turns", used: 4, done: "warned" }])
    stage.process.say(response)
    expect(stage.process.interrupts).toBe(0)
    stage.process.say(response)

    expect(stage.process.interrupts).toBe(1)
    stage.process.say(ended({ outcome: "interrupted", result: null }))
    expect(stage.process.isInputEnded).toBe(true)
    expect(stage.session.status().end?.cause).toBe("budget")
  })

  test("that is used up lets no further turn begin", async () => {
    const stage = new StagedSession({ maxTurns: 1 }, "begin")
    stage.process.say({ kind: "ready" }, response, succeeded)
    expect(stage.session.status().end).toBeNull()
    stage.order(send("second"))

    expect(stage.process.sent).toHaveLength(1)
    expect(stage.named("turn-ended").at(-1)).toMatchObject({ turn_id: "second", outcome: "error" })
    await stage.process.dies("exited with 0")
    expect(stage.endedWith).toEqual({ cause: "budget", exitCode: 1 })
  })

  test("of tokens and of cost count what is told during a turn", () => {
    const tokens = { input: 60, output: 0, cache_read: 60, cache_creation: 0 }
    const byTokens = new StagedSession({ maxTokens: 100 }, "begin")
    byTokens.process.say({ kind: "ready" }, { kind: "tokens", tokens })
    expect(byTokens.session.status().end?.cause).toBe("budget")

    const byCost = new StagedSession({ maxCostUsd: 1 }, "begin")
    byCost.process.say({ kind: "ready" }, response)
    expect(byCost.process.usageAsked).toBe(1)
    const usage = { costUsd: 1.5, byModel: {}, contextWindow: null }
    byCost.process.say({ kind: "cost", usage })
    expect(byCost.session.status().end?.cause).toBe("budget")
  })
})

describe("a silence", () => {
  test("of the API, of a tool and of a start are told apart", () => {
    const starting = new StagedSession({}, "begin")
    starting.clock.advance(31_000)
    expect(starting.session.status().activity).toMatchObject({ state: "stalled" })
    expect(starting.session.status().activity.awaited).toContain("to be ready")

    const api = new StagedSession({}, "begin")
    api.process.say({ kind: "ready" })
    for (let second = 0; second < 125; second += 5) api.clock.advance(5000)
    expect(api.session.status().activity.awaited).toContain("the API")

    const tool = new StagedSession({}, "begin")
    tool.process.say({ kind: "ready" }, { kind: "tool-started", toolId: "t", tool: "Bash" })
    for (let second = 0; second < 595; second += 5) tool.clock.advance(5000)
    expect(state(tool)).toBe("tool")
    tool.clock.advance(10_000)
    expect(tool.session.status().activity.awaited).toContain("the tool Bash")
  })
})
