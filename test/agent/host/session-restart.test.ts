import { describe, expect, test } from "bun:test"
import type { HostRestart } from "../../../src/protocol/agent-restart.ts"
import { sampleId } from "../../support/sample-record.ts"
import { sampleStatus } from "../../support/sample-session.ts"
import { StagedSession, send, succeeded } from "./scripted-agent.ts"

const tokens = { input: 10, output: 5, cache_read: 0, cache_creation: 0 }
const turns = ["a", "b"].map((turnId) => ({ turnId, content: `do ${turnId}`, by: "bob" }))

function restart(change: Partial<HostRestart> = {}): HostRestart {
  return { of: sampleId(9), attempt: 2, turns, status: null, problem: null, ...change }
}

describe("a session that goes on with an execution before it", () => {
  test("resumes the agent and gives it the turns that were left, then its own", () => {
    const stage = new StagedSession({}, null, [], restart())
    stage.order(send("c"))
    expect(stage.process.run).toEqual({ kind: "resume" })
    stage.process.say({ kind: "ready" }, succeeded, succeeded, succeeded)

    expect(stage.process.sent.map(({ turnId }) => turnId)).toEqual(["a", "b", "c"])
    expect(stage.events.slice(0, 3)).toMatchObject([
      { event: "turn", turn_id: "a", by: "bob" },
      { event: "turn", turn_id: "b", by: "bob" },
      { event: "resumed", after: "restart", attempt: 2, execution_id: sampleId(9) },
    ])
  })

  test("takes a turn of before for the same one when it is sent again", () => {
    const stage = new StagedSession({}, null, [], restart())
    stage.order(send("a"))

    expect(stage.session.status().turns).toMatchObject({ accepted: 2, waiting: 2 })
  })

  test("goes on counting what was used, and ends where that is all", () => {
    const usage = { cost_usd: 2, tokens, by_model: {}, context_tokens: null, context_window: null }
    const status = sampleStatus({ usage })
    const stage = new StagedSession({ maxCostUsd: 2 }, null, [], restart({ status }))

    expect(stage.session.status().usage).toMatchObject({ cost_usd: 2, tokens })
    stage.process.say({ kind: "ready" })
    expect(stage.process.sent).toEqual([])
    expect(stage.session.status().end).toMatchObject({ cause: "budget" })
  })

  test("ends after its turns where it had been told to end", () => {
    const status = sampleStatus({ end: { cause: "end", message: "bob ended it." } })
    const stage = new StagedSession({}, null, [], restart({ status }))
    stage.process.say({ kind: "ready" }, succeeded)
    expect(stage.process.isInputEnded).toBe(false)
    stage.process.say(succeeded)

    expect(stage.process.isInputEnded).toBe(true)
  })
})
