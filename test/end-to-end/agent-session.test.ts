import { describe, expect } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { Receipt } from "../../src/execution/receipt.ts"
import { bash, commandOf, processesOf, refusalOf, toolResults } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { byScale, onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

const timeoutMs = 120_000
const turnCount = byScale({ short: 2, full: 5, long: 5 })

describe("a session of Claude Code", () => {
  testUnless(
    noClaudeCode,
    `takes ${turnCount} turns with tools, keeps every message untouched, and proves it`,
    async () => {
      const model = (conversation: Conversation): ModelStep => {
        const done = conversation.uses.length
        return done < conversation.turns
          ? bash(`echo turn ${done + 1}`)
          : { say: `Turn ${conversation.turns} is done.` }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin", args: ["--allowedTools", "Bash"] })
      for (let turn = 2; turn <= turnCount; turn += 1) {
        await stage.whenTurnEnded(id, turn - 1)
        await stage.client.call("agent.send", { execution_id: id, text: `turn ${turn}` })
      }
      const status = await stage.whenTurnEnded(id, turnCount)
      await stage.client.call("agent.end", { execution_id: id })
      const view = await stage.whenEnded(id)

      expect(status).toMatchObject({ agent_version: "2.1.326", last_turn: { outcome: "success" } })
      expect(view.ending).toMatchObject({ outcome: "exited", exit_code: 0 })
      const events = await stage.events(id)
      expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1))
      expect(events.filter(({ event }) => event === "turn-ended")).toHaveLength(turnCount)
      const results = events.filter(({ event }) => event === "message").flatMap(toolResults)
      expect(results).toEqual(Array.from({ length: turnCount }, (_, n) => `turn ${n + 1}`))
      const verdict = await stage.client.call("transcript.verify", { execution_id: id })
      expect(verdict).toMatchObject({ verified: true, chain: "intact" })
      const { payload } = await stage.client.call("receipt", { execution_id: id })
      const receipt = Receipt.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")))
      expect(receipt.agent).toMatchObject({
        agent_version: "2.1.326",
        session_id: status.session_id,
      })
      expect(processesOf(id)).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode,
    "asks several questions at once, which outlive the gateway, an upgrade and their readers",
    async () => {
      const subagent = { description: "s", prompt: "do it", subagent_type: "general-purpose" }
      const model = (conversation: Conversation): ModelStep => {
        if (conversation.first !== "begin") {
          return conversation.uses.length === 0
            ? bash(`touch ${conversation.first}`)
            : { say: "ok" }
        }
        if (conversation.uses.length > 0) return { say: "All of it is done." }
        const task = (prompt: string) => ({ use: "Agent", input: { ...subagent, prompt } })
        return { uses: [task("one.txt"), task("two.txt"), bash("touch three.txt")] }
      }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin" })
      await stage.whenStatus(id, "three questions", ({ questions }) => questions.length === 3)
      process.kill(stage.service.gatewayPid, "SIGKILL")
      await upgraded(stage.service)

      await using other = connect({ url: await stage.service.url() })
      const { questions } = await other.call("agent.inbox", {})
      expect(questions.map(({ execution_id, tool }) => [execution_id, tool])).toEqual([
        [id, "Bash"],
        [id, "Bash"],
        [id, "Bash"],
      ])
      expect(questions.filter(({ subagent: name }) => name !== null)).toHaveLength(2)
      const [first] = questions
      const question_id = first?.question_id ?? ""
      const answer = { execution_id: id, question_id, behavior: "allow" as const }
      const updated_input = { command: "touch edited.txt", description: "another" }
      await other.call("agent.answer", { ...answer, updated_input })
      const refusal = await refusalOf(stage.client.call("agent.answer", answer))
      expect(refusal.failure).toMatchObject({
        reason: "ALREADY_ANSWERED",
        details: { by: "local", behavior: "allow" },
      })
      for (const one of questions.slice(1)) {
        await other.call("agent.answer", { ...answer, question_id: one.question_id })
      }
      await stage.whenTurnEnded(id)

      expect(existsSync(join(stage.project, "edited.txt"))).toBe(true)
      expect(await other.call("agent.inbox", {})).toEqual({ questions: [], interrupted: [] })
      await stage.client.call("control", { type: "CANCEL", execution_id: id })
      expect(processesOf(id)).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode,
    "is paused with its tool, interrupted without being lost, and canceled without a trace",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.turns === 1
          ? bash("for i in $(seq 100000); do echo $i > count.txt; sleep 0.05; done")
          : { say: "Here I am." }
      await using stage = await AgentStage.set(model)
      const id = await stage.start({ prompt: "begin", args: ["--allowedTools", "Bash"] })
      const count = () => readFileSync(join(stage.project, "count.txt"), "utf8")
      await until("the tool counts", () => existsSync(join(stage.project, "count.txt")))

      await stage.client.call("control", { type: "PAUSE", execution_id: id })
      const paused = count()
      const refusal = await refusalOf(
        stage.client.call("agent.send", { execution_id: id, text: "hello" }),
      )
      expect(refusal.failure.reason).toBe("WRONG_STATE")
      expect(count()).toBe(paused)
      await stage.client.call("control", { type: "RESUME", execution_id: id })
      await until("the tool counts on", () => count() !== paused)

      await stage.client.call("agent.interrupt", { execution_id: id })
      const status = await stage.whenTurnEnded(id)
      expect(status.last_turn?.outcome).toBe("interrupted")
      expect(processesOf(id).filter((pid) => /seq/.test(commandOf(pid)))).toEqual([])
      await stage.client.call("agent.send", { execution_id: id, text: "are you there?" })
      expect((await stage.whenTurnEnded(id, 2)).last_turn).toMatchObject({ result: "Here I am." })

      await stage.client.call("control", { type: "CANCEL", execution_id: id })
      expect(processesOf(id)).toEqual([])
      expect((await stage.whenEnded(id)).ending).toMatchObject({ cause: "client" })
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "has one writer: a second one is refused, or takes it over",
    async () => {
      await using stage = await AgentStage.set(() => ({ say: "Yes." }))
      const id = await stage.start({ prompt: "begin" })
      const { session_id } = await stage.whenTurnEnded(id)
      const refusal = await refusalOf(stage.start({ resume: session_id }))
      expect(refusal.failure).toMatchObject({
        reason: "SESSION_BUSY",
        details: { execution_id: id },
      })

      const next = await stage.start({ resume: id, take_over: true, prompt: "go on" })
      expect((await stage.whenEnded(id)).ending).toMatchObject({ exit_code: 0 })
      const status = await stage.whenTurnEnded(next)
      expect(status).toMatchObject({ session_id, resumed_from: session_id })

      const copy = await stage.start({ resume: session_id, fork: true, prompt: "and again" })
      const forked = await stage.whenTurnEnded(copy)
      expect(forked.session_id).not.toBe(session_id)
      expect(forked.last_turn?.outcome).toBe("success")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "takes whole orders from several clients at once, each turn once, and no input besides",
    async () => {
      await using stage = await AgentStage.set(() => ({ say: "Yes." }))
      const id = await stage.start()
      await using other = connect({ url: await stage.service.url() })
      const text = (letter: string) => letter.repeat(2_000_000)
      await Promise.all([
        stage.client.call("agent.send", { execution_id: id, text: text("a"), turn_id: "one" }),
        other.call("agent.send", { execution_id: id, text: text("b"), turn_id: "two" }),
        other.call("agent.send", { execution_id: id, text: text("a"), turn_id: "one" }),
      ])
      await stage.whenTurnEnded(id, 2)

      const turns = (await stage.events(id)).filter(({ event }) => event === "turn")
      expect(new Set(turns.map(({ turn_id }) => turn_id))).toEqual(new Set(["one", "two"]))
      expect(turns).toHaveLength(2)
      for (const turn of turns) {
        expect(turn["text"] === text("a") || turn["text"] === text("b")).toBe(true)
        expect(turn["by"]).toBe("local")
      }
      const refusal = await refusalOf(
        other.call("input", { execution_id: id, data: '{"order":"end"}\n' }),
      )
      expect(refusal.failure.reason).toBe("WRONG_STATE")
    },
    timeoutMs,
  )
})
