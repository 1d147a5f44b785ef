import { describe, expect } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { bash, processesOf, refusalOf, wasCutOff } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const timeoutMs = 120_000
const allowsBash = { args: ["--allowedTools", "Bash"] }

describe("a session whose service was killed", () => {
  testUnless(
    noClaudeCode,
    "goes on in the middle of a tool, runs nothing twice, and then does what waited",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0
          ? bash("echo ran >> ran.txt; sleep 1000")
          : { say: `Turn ${conversation.turns}.` }
      await using stage = await AgentStage.set(model)
      const labels = { name: "long-work" }
      const id = await stage.start({ prompt: "begin", labels, ...allowsBash })
      const ran = join(stage.project, "ran.txt")
      await until("the tool runs", () => existsSync(ran))
      for (const text of ["second", "third"]) {
        await stage.client.call("agent.send", { execution_id: id, text })
      }
      await stage.crash()

      const next = await stage.whenRestarted(id)
      const status = await stage.whenTurnEnded(next, 3)
      expect(status).toMatchObject({ crashes: 0, last_turn: { outcome: "success" } })
      expect(readFileSync(ran, "utf8")).toBe("ran\n")
      expect(processesOf(id)).toEqual([])
      const events = await stage.events(next)
      expect(events.filter(({ event }) => event === "resumed")).toMatchObject([
        { after: "restart", attempt: 1, execution_id: id },
      ])
      const told = events.filter(({ event }) => event === "turn")
      expect(told.map(({ text }) => text)).toEqual(["begin", "second", "third"])
      const ended = events.filter(({ event }) => event === "turn-ended")
      expect(ended.map(({ turn_id }) => turn_id)).toEqual(told.map(({ turn_id }) => turn_id))
      const view = await stage.client.call("status", { execution_id: next })
      expect(view).toMatchObject({ labels, principal: "local", restart_of: id })
      const refusal = await refusalOf(
        stage.client.call("agent.send", { execution_id: id, text: "more" }),
      )
      expect(refusal.failure).toMatchObject({
        reason: "WRONG_STATE",
        details: { restarted_as: next },
      })
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode,
    "asks again what it had asked, in the inbox",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0 || wasCutOff(conversation)
          ? bash("touch file.txt")
          : { say: "Done." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await stage.whenStatus(id, "a question", ({ questions }) => questions.length === 1)
      await stage.crash()

      const next = await stage.whenRestarted(id)
      await stage.whenStatus(next, "the same question", ({ questions }) =>
        questions.some(({ replaces }) => replaces === "q1"),
      )
      const { questions } = await stage.client.call("agent.inbox", {})
      expect(questions).toMatchObject([{ execution_id: next, question_id: "q2", tool: "Bash" }])
      await stage.client.call("agent.answer", {
        execution_id: next,
        question_id: "q2",
        behavior: "allow",
      })
      await stage.whenTurnEnded(next)
      expect(existsSync(join(stage.project, "file.txt"))).toBe(true)
    },
    timeoutMs,
  )
})
