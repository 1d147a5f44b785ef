import { describe, expect } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { bash, processesOf, refusalOf, wasCutOff } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import { filesWith } from "../support/files-with.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
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
      await stage.whenToolRuns("ran.txt", "sleep 1000")
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
    noClaudeCode ?? onlyInFull,
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

  testUnless(
    noClaudeCode ?? onlyInFull,
    "waits for a person where it was given variables, and goes on with them",
    async () => {
      const model = (conversation: Conversation): ModelStep => {
        if (conversation.uses.length === 0) return bash("touch here.txt; sleep 1000")
        return wasCutOff(conversation) ? bash("echo $SECRET > secret.txt") : { say: "Done." }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin", env: { SECRET: "1" }, ...allowsBash })
      await stage.whenToolRuns("here.txt", "sleep 1000")
      await stage.crash()

      const { interrupted } = await stage.client.call("agent.inbox", {})
      expect(interrupted).toMatchObject([
        {
          execution_id: id,
          missing: ["SECRET"],
          command: `cc-executor claude -d --resume ${id} -e SECRET=…`,
        },
      ])
      const next = await stage.cli("claude", "-d", "--resume", id, "-e", "SECRET=two words")
      expect(await stage.whenRestarted(id)).toBe(next)
      await stage.whenTurnEnded(next)
      expect(readFileSync(join(stage.project, "secret.txt"), "utf8")).toBe("two words\n")
      expect((await stage.client.call("agent.inbox", {})).interrupted).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "stays ended where that was asked for",
    async () => {
      await using stage = await AgentStage.set(() => bash("touch here.txt; sleep 1000"))
      const id = await stage.start({ prompt: "begin", restart: "never", ...allowsBash })
      await stage.whenToolRuns("here.txt", "sleep 1000")
      await stage.crash()

      const view = await stage.client.call("status", { execution_id: id })
      expect(view).toMatchObject({ state: "ended", ending: { outcome: "lost" } })
      expect(view).not.toHaveProperty("restarts_at")
      const { executions } = await stage.client.call("list", {})
      expect(executions).toHaveLength(1)
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "goes on after a second crash, and when the gateway dies while it is restarted",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0
          ? bash("echo ran >> ran.txt; sleep 1000")
          : { say: "It was cut off." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin", ...allowsBash })
      const ran = join(stage.project, "ran.txt")
      await stage.whenToolRuns("ran.txt", "sleep 1000")
      await stage.crash()
      // At once: it may be restarted by now, be about to be, or have written half of its log.
      await stage.crash()
      process.kill(stage.service.gatewayPid, "SIGKILL")

      const last = await until(
        "it has ended its turn",
        async () => {
          const { executions } = await stage.client.call("list", {})
          return executions.find(({ agent }) => agent?.turns.ended === 1) ?? false
        },
        50_000,
      )
      const { executions } = await stage.client.call("list", {})
      expect(readFileSync(ran, "utf8")).toBe("ran\n")
      expect(executions.at(-1)?.execution_id).toBe(id)
      const chain = executions.toReversed()
      for (const [at, { restarted_as }] of chain.entries()) {
        expect(restarted_as).toBe(chain[at + 1]?.execution_id)
      }
      expect(last.execution_id).toBe(chain.at(-1)?.execution_id ?? "")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "does not begin a turn again that had ended before anybody was told",
    async () => {
      const asked = Promise.withResolvers<void>()
      const mayAnswer = Promise.withResolvers<void>()
      let answers = 0
      const model = async (): Promise<ModelStep> => {
        asked.resolve()
        await mayAnswer.promise
        answers += 1
        return { say: `Answer ${answers}.` }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await asked.promise
      process.kill(stage.service.pid, "SIGSTOP")
      mayAnswer.resolve()
      await until("the agent has written its answer, and the end of the turn, down", () =>
        filesWith(stage.home, "Answer 1.").some((path) => {
          const [, after = ""] = readFileSync(path, "utf8").split("Answer 1.")
          return after.includes('"type":"last-prompt"')
        }),
      )
      await stage.crash()

      const next = await stage.whenRestarted(id)
      const status = await stage.whenTurnEnded(next)
      expect(status.last_turn).toMatchObject({ turn_id: id, outcome: "success" })
      expect(answers).toBe(1)
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "is followed by the command line that had started it",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length === 0
          ? bash("touch here.txt; sleep 1000")
          : { say: "All the same." }
      await using stage = await AgentStage.set(model)
      const project = ["--cwd", stage.project, "--arg=--allowedTools", "--arg=Bash"]
      const printed = stage.cli("claude", ...project, "begin")
      await stage.whenToolRuns("here.txt", "sleep 1000")
      await stage.crash()

      expect(await printed).toBe("All the same.")
    },
    timeoutMs,
  )
})
