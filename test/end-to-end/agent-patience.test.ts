import { describe, expect } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { bash, isClaude, processesOf, refusalOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { claudeCodeFolder, noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const minutesMs = 360_000
const nobodyMs = 120_000

describe("a session of Claude Code that has to wait", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "keeps its question through two minutes of nobody",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0 ? bash("touch file.txt") : { say: "Done." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await stage.whenStatus(id, "a question", ({ questions }) => questions.length === 1)
      await stage.client.close()
      await Bun.sleep(nobodyMs) // that nothing happens meanwhile is what this is about

      await using other = connect({ url: await stage.service.url() })
      const { questions } = await other.call("agent.inbox", {})
      expect(questions).toMatchObject([{ execution_id: id, question_id: "q1", tool: "Bash" }])
      await other.call("agent.answer", { execution_id: id, question_id: "q1", behavior: "allow" })
      await until("its tool has run", () => existsSync(join(stage.project, "file.txt")))
    },
    minutesMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "is told as stalled while the API is silent, and goes on when it answers",
    async () => {
      const answered = Promise.withResolvers<ModelStep>()
      await using stage = await AgentStage.set(() => answered.promise)
      const id = await stage.start({ prompt: "begin" })
      const isStalled = async () => {
        const status = await stage.status(id)
        return status?.activity.state === "stalled" ? status : false
      }
      const { activity } = await until("it is told as stalled", isStalled, 200_000)

      expect(activity.awaited).toContain("the API, silent")
      expect(activity.todo).toContain("interrupt")
      answered.resolve({ say: "At last." })
      const status = await stage.whenTurnEnded(id)
      expect(status.last_turn).toMatchObject({ outcome: "success", result: "At last." })
    },
    minutesMs,
  )
})

describe("a session that is open in a Claude Code outside", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "is left to it, and can be gone on with once that has ended",
    async () => {
      await using stage = await AgentStage.set(() => ({ say: "Yes." }))
      const first = await stage.start({ prompt: "begin" })
      const { session_id } = await stage.whenTurnEnded(first)
      await stage.client.call("agent.end", { execution_id: first })
      await stage.whenEnded(first)
      const outside = Bun.spawn(
        [join(claudeCodeFolder, "claude"), "-p", "--resume", session_id, ...inJson],
        { cwd: stage.project, env: stage.environment, stdin: "pipe", stdout: "ignore" },
      )
      try {
        await outside.stdin.write(`${JSON.stringify(initialize)}\n`)
        await outside.stdin.flush()
        const note = join(stage.home, ".claude/sessions", `${outside.pid}.json`)
        await until("it has noted that it lives", () => existsSync(note))
        const refused = await refusalOf(stage.start({ resume: session_id }))
        expect(refused.failure).toMatchObject({
          reason: "SESSION_BUSY",
          details: { pid: outside.pid },
        })
      } finally {
        outside.kill()
        await outside.exited
      }

      const next = await stage.start({ resume: session_id, take_over: true, prompt: "go on" })
      expect(await stage.whenTurnEnded(next)).toMatchObject({ session_id })
    },
    minutesMs,
  )
})

const inJson = ["--input-format=stream-json", "--output-format=stream-json", "--verbose"]
const initialize = {
  type: "control_request",
  request_id: "1",
  request: { subtype: "initialize" },
}

describe("a session whose program is killed in the middle of its words", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "says them anew, and the turn ends once",
    async () => {
      let asked = 0
      const model = (): ModelStep => {
        asked += 1
        return asked === 1 ? { begin: "Once upon a time" } : { say: "The end." }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await until("its words are there", async () => {
        return JSON.stringify(await stage.events(id)).includes("Once upon a time")
      })
      process.kill(processesOf(id).find((pid) => isClaude(pid)) ?? 0, "SIGKILL")
      const status = await stage.whenTurnEnded(id)

      expect(status).toMatchObject({
        crashes: 1,
        turns: { accepted: 1, ended: 1 },
        last_turn: { outcome: "success", result: "The end." },
      })
      expect(processesOf(id).filter((pid) => isClaude(pid))).toHaveLength(1)
    },
    minutesMs,
  )
})
