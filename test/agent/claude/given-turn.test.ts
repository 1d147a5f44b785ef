import { describe, expect, test } from "bun:test"
import { GivenTurn } from "../../../src/agent/claude/given-turn.ts"

const lifecycle = (state: string, command_uuid = "u") => {
  return { type: "command_lifecycle", command_uuid, state }
}
const idle = { type: "system", subtype: "session_state_changed", state: "idle" }
const result = { type: "result", user_message_uuids: ["u"] }

function finished(...messages: Record<string, unknown>[]): boolean {
  const turn = new GivenTurn("u")
  return (
    messages.map((message) => {
      if (message["type"] === "result") turn.isEndedBy(message)
      return turn.wasFinishedBefore(message)
    })[messages.length - 1] === true
  )
}

describe("a turn that is given again to a resumed Claude Code", () => {
  test("was finished before when it is completed without a start, and nothing goes on", () => {
    expect(finished(lifecycle("completed"), idle)).toBe(true)
  })

  test("was only cut off when a result comes before Claude Code is idle", () => {
    expect(finished(lifecycle("completed"), result, idle)).toBe(false)
    expect(finished(result, lifecycle("completed"), idle)).toBe(false)
  })

  test("is a new one when it is started", () => {
    expect(finished(lifecycle("started"), result, lifecycle("completed"), idle)).toBe(false)
    expect(finished(idle, lifecycle("completed", "another"), idle)).toBe(false)
  })
})
