import { describe, expect } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { bash, processesOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { ClaudeCode, noClaudeCode } from "../support/claude-code.ts"
import type { Conversation, ToolUse } from "../support/conversation.ts"
import { McpTalk } from "../support/mcp-talk.ts"
import { MessagesApi, type ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 120_000

describe("an assistant with our MCP server", () => {
  testUnless(
    noClaudeCode,
    "starts an agent, answers its question, reads its result and checks its claim",
    async () => {
      await using stage = await AgentStage.set(worker)
      const server = { command: executable, args: ["mcp", "--state-dir", stage.service.stateDir] }
      await using api = new MessagesApi((conversation) => assistant(conversation, stage.project))
      await using claude = new ClaudeCode(api, server)

      expect(await claude.run("Have the tests run.").answer()).toBe("It is verified.")

      const uses = api.conversations.at(-1)?.uses ?? []
      expect(uses.filter(({ isError }) => isError)).toEqual([])
      const asked = SessionView.parse(JSON.parse(uses.find(asks)?.answer ?? ""))
      expect(asked.questions[0]).toMatchObject({ tool: "Bash", input: { command: work } })
      expect(existsSync(join(stage.project, "ran.txt"))).toBe(true)
      const verdicts = uses.filter(({ tool }) => tool.endsWith("__verify"))
      expect(verdicts.map(({ answer }) => Verdict.parse(JSON.parse(answer)))).toEqual([
        { verified: true, executed: { found: "executed", uses_with_own_input: 0 } },
        { verified: false, executed: { found: "claimed", uses_with_own_input: 0 } },
      ])
      const { executions } = await stage.client.call("list", {})
      expect(executions).toHaveLength(1)
      expect(executions[0]).toMatchObject({ state: "ended", agent: { turns: { ended: 1 } } })
    },
    timeoutMs,
  )
})

describe("the tools for agents", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "send turns, each of which is waited for, interrupt one, and tell progress",
    async () => {
      const model = ({ turns }: Conversation): ModelStep =>
        turns === 3 ? bash("tail -f /dev/null") : { say: `Turn ${turns} is done.` }
      await using stage = await AgentStage.set(model)
      await using client = await Tools.open(stage)
      const labels = { name: "helper" }
      const prompt = "begin"
      const args = ["--allowedTools", "Bash"]
      const started = await client.use("agent_start", { prompt, cwd: stage.project, labels, args })
      const helper = { execution_id: "helper" }

      const first = await client.use("agent_wait", helper)
      await client.use("agent_send", { ...helper, text: "second", turn_id: "two" })
      await client.use("agent_send", { ...helper, text: "second", turn_id: "two" })
      const second = await client.use("agent_wait", helper)
      await client.use("agent_send", { ...helper, text: "third" })
      const third = await client.use("agent_wait", { ...helper, timeout_s: 2 })
      await client.use("agent_interrupt", helper)
      const fourth = await client.use("agent_wait", helper)
      await client.use("agent_send", { ...helper, text: "fourth" })
      await client.use("agent_wait", helper)
      const last = await client.use("agent_status", helper)

      expect(first).toMatchObject({ state: "idle", result: { text: "Turn 1 is done." } })
      expect(second).toMatchObject({ turns_ended: 2, result: { turn_id: "two" } })
      expect(third).toMatchObject({ state: "working", note: expect.stringMatching(/again/) })
      expect(fourth).toMatchObject({ state: "idle", result: { outcome: "interrupted" } })
      expect(last).toMatchObject({ turns_ended: 4, result: { text: "Turn 4 is done." } })
      expect(client.progress).toContainEqual(
        expect.stringMatching(/^Session \w{26}: (?:tool|think)/),
      )
      await client.use("cancel", helper)
      expect(await client.use("agent_wait", helper)).toMatchObject({ state: "ended" })
      expect(processesOf(String(started["execution_id"]))).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode,
    "refuse what is not theirs, in words that say what to do",
    async () => {
      await using stage = await AgentStage.set(() => ({ say: "Yes." }))
      await using client = await Tools.open(stage)
      const { execution_id } = await client.use("start", { command: "sleep 1000" })

      expect(await client.refusal("agent_wait", { execution_id })).toMatch(/is a command.*`wait`/)
      expect(await client.refusal("agent_status", { execution_id: "nobody" })).toMatch(/^PROCESS/)
      expect(await client.refusal("agent_send", { execution_id, text: "x" })).toMatch(
        /^WRONG_STATE/,
      )
      expect(await client.refusal("agent_start", { fork: true })).toMatch(/need `resume`/)
      expect(await client.refusal("agent_start", { command: "ls" })).toMatch(/^INVALID_PARAMS/)
      expect(await client.refusal("verify", { execution_id, executed: "x" })).toMatch(/contains/)
    },
    timeoutMs,
  )
})

const work = "printf 'ALL %s\\n' PASSED | tee ran.txt"

/** The agent that is started: it asks before it works, and says more than is true. */
function worker({ uses }: Conversation): ModelStep {
  return uses.length === 0 ? bash(work) : { say: "ALL PASSED, and coverage is 100 %." }
}

const Started = z.object({ execution_id: z.string() })
const SessionView = z.object({
  state: z.string(),
  questions: z.array(z.looseObject({ question_id: z.string() })),
  result: z.object({ text: z.string() }).nullable(),
})
const Verdict = z.object({
  verified: z.boolean(),
  executed: z.object({ found: z.string(), uses_with_own_input: z.int() }),
})

const asks = ({ tool, answer }: ToolUse) =>
  tool.endsWith("__agent_wait") && answer.includes('"state":"asking"')

/** A model that does what the notes of the tools tell it to. */
function assistant({ uses }: Conversation, cwd: string): ModelStep {
  const [started] = uses
  const last = uses.at(-1)
  if (started === undefined || last === undefined) {
    return { use: "agent_start", input: { prompt: "Run the tests.", cwd } }
  }
  const about = Started.parse(JSON.parse(started.answer))
  const wait = { use: "agent_wait", input: about }
  const checks = uses.filter(({ tool }) => tool.endsWith("__verify")).length
  if (last.tool.endsWith("__cancel")) return { say: "It is verified." }
  if (checks === 1) return { use: "verify", input: { ...about, executed: "coverage is 100 %" } }
  if (checks === 2) return { use: "cancel", input: about }
  if (!last.tool.endsWith("__agent_wait")) return wait
  const { state, questions, result } = SessionView.parse(JSON.parse(last.answer))
  const [question] = questions
  if (question !== undefined) {
    const { question_id } = question
    return { use: "agent_answer", input: { ...about, question_id, behavior: "allow" } }
  }
  if (state === "working") return wait
  const claim = /^[A-Z ]+/.exec(result?.text ?? "")?.[0] ?? ""
  return { use: "verify", input: { ...about, executed: claim } }
}

/** Calls tools, and keeps the progress that is told meanwhile. */
class Tools implements AsyncDisposable {
  readonly #talk: McpTalk
  #calls = 0

  private constructor(talk: McpTalk) {
    this.#talk = talk
  }

  static async open(stage: AgentStage): Promise<Tools> {
    return new Tools(await McpTalk.open(stage.service))
  }

  get progress(): string[] {
    return this.#talk.heard.flatMap(({ method, params }) =>
      method === "notifications/progress" ? [String(params?.["message"])] : [],
    )
  }

  async use(name: string, args: object): Promise<Record<string, unknown>> {
    const { isError, structuredContent, content } = await this.#call(name, args)
    if (isError === true) throw new Error(content[0]?.text)
    return structuredContent ?? {}
  }

  async refusal(name: string, args: object): Promise<string> {
    const { isError, content } = await this.#call(name, args)
    expect(isError).toBe(true)
    return content[0]?.text ?? ""
  }

  async #call(name: string, args: object): Promise<z.infer<typeof Answer>> {
    this.#calls += 1
    const params = { name, arguments: args, _meta: { progressToken: this.#calls } }
    const { result } = await this.#talk.ask({ id: this.#calls, method: "tools/call", params })
    return Answer.parse(result)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#talk[Symbol.asyncDispose]()
  }
}

const Answer = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  content: z.array(z.object({ text: z.string() })),
})
