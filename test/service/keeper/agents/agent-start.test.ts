import { describe, expect, test } from "bun:test"
import type { AgentStatus } from "../../../../src/execution/agent.ts"
import { restartRequest } from "../../../../src/protocol/restart-request.ts"
import { agentStartOf } from "../../../../src/service/keeper/agents/agent-start.ts"
import { sampleSession, sampleStatus } from "../../../support/sample-session.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const another = "00000000-0000-4000-8000-000000000002"

/** How a session goes on whose agent has told this of itself. */
function goneOnWith(told: Partial<AgentStatus>) {
  const status = sampleStatus(told)
  const record = sampleSession({ model: "asked" })
  const work = { turns: [], status, problem: null }
  const { options } = restartRequest(record, work)
  return agentStartOf(options, () => "new", { record, work, attempt: 1 }).spec
}

describe("a session that goes on after a crash", () => {
  test("goes on with the model and under the name that its agent told last", () => {
    const told = { model: "other", session_id: another }

    expect(goneOnWith(told)).toMatchObject({ model: "other", sessionId: another })
  })

  test.each([
    ["nothing", ""],
    ["a text without end", "m".repeat(1000)],
    ["a text with a NUL", "a\0b"],
    ["an option", "--help"],
  ])("does so as it was asked for where that was %s", (_, text) => {
    const model = text === "--help" ? text : "asked" // it is the value of an option itself

    expect(goneOnWith({ model: text, session_id: text })).toMatchObject({ model, sessionId })
  })
})
