import { describe, expect } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  bash,
  commandOf,
  isClaude,
  limitHeaders,
  processesOf,
  refusalOf,
  wasCutOff,
} from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const timeoutMs = 120_000

describe("a session of Claude Code in trouble", () => {
  testUnless(
    noClaudeCode,
    "goes on after its program was killed in the middle of a tool, and runs nothing twice",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0
          ? bash("echo ran >> ran.txt; sleep 1000")
          : { say: "It was cut off." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin", args: ["--allowedTools", "Bash"] })
      const ran = join(stage.project, "ran.txt")
      await stage.whenToolRuns("ran.txt", "sleep 1000")
      const claude = processesOf(id).find((pid) => isClaude(pid)) ?? 0
      process.kill(claude, "SIGKILL")
      const status = await stage.whenTurnEnded(id)

      expect(status).toMatchObject({ crashes: 1, last_turn: { outcome: "success" } })
      expect(readFileSync(ran, "utf8")).toBe("ran\n")
      expect(processesOf(id).filter((pid) => /sleep/.test(commandOf(pid)))).toEqual([])
      const events = await stage.events(id)
      expect(events.filter(({ event }) => event === "resumed")).toMatchObject([{ after: "crash" }])
      await stage.client.call("control", { type: "CANCEL", execution_id: id })
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "asks again what it had asked when its program was killed",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0 || wasCutOff(conversation)
          ? bash("touch file.txt")
          : { say: "Done." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await stage.whenStatus(id, "a question", ({ questions }) => questions.length === 1)
      process.kill(processesOf(id).find((pid) => isClaude(pid)) ?? 0, "SIGKILL")
      const again = await stage.whenStatus(id, "the same question", ({ questions }) => {
        return questions.some(({ replaces }) => replaces === "q1")
      })

      expect(again.questions).toHaveLength(1)
      const answer = { execution_id: id, behavior: "allow" as const }
      const refusal = await refusalOf(
        stage.client.call("agent.answer", { ...answer, question_id: "q1" }),
      )
      expect(refusal.failure.details).toMatchObject({ replaced_by: "q2" })
      await stage.client.call("agent.answer", { ...answer, question_id: "q2" })
      await stage.whenTurnEnded(id)
      expect(existsSync(join(stage.project, "file.txt"))).toBe(true)
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "waits for the end of a usage limit in the middle of a turn, and goes on once",
    async () => {
      let resetsAt = 0
      const model = (conversation: Conversation): ModelStep => {
        if (conversation.uses.length === 0) return bash("echo once >> once.txt")
        if (resetsAt === 0) resetsAt = Math.ceil(Date.now() / 1000) + 4
        if (Date.now() / 1000 < resetsAt) return { status: 429, headers: limitHeaders(resetsAt) }
        return { say: "After the limit." }
      }
      const variables = { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "dummy" }
      await using stage = await AgentStage.set(model, { variables })
      const id = await stage.start({ prompt: "begin", args: ["--allowedTools", "Bash"] })
      const waiting = await stage.whenStatus(id, "the limit is told", ({ activity }) => {
        return activity.state === "limit"
      })

      expect(waiting.activity.until).toBe(new Date(resetsAt * 1000).toISOString())
      const status = await stage.whenTurnEnded(id)
      expect(status.last_turn).toMatchObject({ outcome: "success", result: "After the limit." })
      expect(readFileSync(join(stage.project, "once.txt"), "utf8")).toBe("once\n")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "ends at a usage limit where that was asked for, with its cause",
    async () => {
      const resetsAt = Math.ceil(Date.now() / 1000) + 3600
      const variables = { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "dummy" }
      const model = () => ({ status: 429, headers: limitHeaders(resetsAt) })
      await using stage = await AgentStage.set(model, { variables })
      const id = await stage.start({ prompt: "begin", on_limit: "stop" })

      expect((await stage.whenEnded(id)).ending).toMatchObject({
        outcome: "stopped",
        cause: "usage-limit",
      })
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "survives an API that is overloaded, and one that stops in the middle of an answer",
    async () => {
      let asked = 0
      const model = (): ModelStep => {
        asked += 1
        if (asked <= 2) return { status: 529 }
        return { say: "At last." }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      const status = await stage.whenTurnEnded(id)

      expect(status.last_turn).toMatchObject({ outcome: "success", result: "At last." })
      const states = (await stage.events(id)).filter(({ event }) => event === "activity")
      expect(states.map(({ state }) => state)).toContain("retrying")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "ends a turn whose answer is longer than one line of its log",
    async () => {
      const answer = "long ".repeat(300_000)
      await using stage = await AgentStage.set(() => ({ say: answer }))
      const id = await stage.start({ prompt: "begin" })
      const { last_turn } = await stage.whenTurnEnded(id)

      expect(last_turn?.outcome).toBe("success")
      const events = await stage.events(id)
      expect(events.find(({ event }) => event === "turn-ended")?.["result"]).toBe(answer)
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "is shown word by word, and interrupted in the middle of an answer that never ends",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.turns === 1 ? { begin: "Once upon a time" } : { say: "Fine." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await until("the words are there", async () => {
        return JSON.stringify(await stage.events(id)).includes("Once upon a time")
      })
      await stage.client.call("agent.interrupt", { execution_id: id })

      expect((await stage.whenTurnEnded(id)).last_turn?.outcome).toBe("interrupted")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "ends when a budget is used up, never as a success",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        bash(`echo ${conversation.uses.length}`)
      await using stage = await AgentStage.set(model)
      const args = ["--allowedTools", "Bash"]
      const budgets = [{ max_turns: 3 }, { max_tokens: 20 }, { max_cost_usd: 0.0001 }]
      const ids = await Promise.all(
        budgets.map((budget) => stage.start({ prompt: "begin", args, ...budget })),
      )
      for (const id of ids) {
        expect((await stage.whenEnded(id)).ending).toMatchObject({ cause: "budget" })
        const told = (await stage.events(id)).filter(({ event }) => event === "budget")
        expect(told.map(({ done }) => done)).toEqual(["warned", "ended the session"])
      }
    },
    timeoutMs,
  )
})
