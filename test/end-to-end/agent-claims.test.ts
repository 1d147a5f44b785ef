import { afterAll, beforeAll, describe, expect } from "bun:test"
import { bash, refusalOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"

// The real Claude Code, and what its session says of a text afterwards.

let stage: AgentStage
let id: string

beforeAll(async () => {
  if (noClaudeCode !== null) return
  stage = await AgentStage.set(model)
  id = await stage.start({ prompt: "Say: TOLD ONLY.", args: ["--allowedTools", "Bash(printf:*)"] })
  const asked = await stage.whenStatus(id, "a question", ({ questions }) => questions.length === 1)
  const question_id = asked.questions[0]?.question_id ?? ""
  const message = "DENIED ONLY"
  await stage.client.call("agent.answer", {
    execution_id: id,
    question_id,
    behavior: "deny",
    message,
  })
  await stage.whenTurnEnded(id)
  await stage.client.call("agent.end", { execution_id: id })
  await stage.whenEnded(id)
}, 120_000)

afterAll(() => stage?.[Symbol.asyncDispose]())

/** Prints something, prints what it was told to, is denied a tool, and talks a lot. */
function model({ uses }: Conversation): ModelStep {
  switch (uses.length) {
    case 0:
      return bash("printf 'REALLY %s\\n\"two\"\\n' RAN")
    case 1:
      return bash("printf 'TYPED ONLY'")
    case 2:
      return bash("touch denied.txt")
    default:
      return { say: 'REALLY RAN\n"two", and SAID ONLY.' }
  }
}

describe("what an agent claims", () => {
  const verify = (executed: string) =>
    stage.client.call("transcript.verify", { execution_id: id, executed })

  testUnless(
    noClaudeCode,
    "is executed when a tool wrote it, with the tool and input",
    async () => {
      const verdict = await verify('REALLY RAN\n"two"')
      expect(verdict).toMatchObject({
        verified: true,
        chain: "intact",
        executed: {
          found: "executed",
          times: { executed: 1, claimed: 1, echoed: 0 },
          uses_with_own_input: 0,
          tools: [{ tool: "Bash", in_own_input: false }],
          unread: 0,
        },
      })
      expect(verdict.executed?.tools[0]?.input).toContain("printf 'REALLY %s")
      expect(verdict.executed?.caveat).toContain("ptrace")
    },
  )

  testUnless(noClaudeCode, "is executed, but stood in the tool's own input", async () => {
    const verdict = await verify("TYPED ONLY")
    expect(verdict).toMatchObject({ verified: true, executed: { uses: 1, uses_with_own_input: 1 } })
    expect(verdict.executed?.note).toContain("stood in its own input")
  })

  testUnless(noClaudeCode, "is refuted when it was only said, told or neither", async () => {
    const found = async (text: string) => {
      const { verified, executed, reason } = await verify(text)
      expect([verified, typeof reason]).toEqual([false, "string"])
      return executed
    }
    expect(await found("SAID ONLY")).toMatchObject({ found: "claimed", times: { claimed: 1 } })
    expect(await found("TOLD ONLY")).toMatchObject({ found: "echoed", times: { echoed: 1 } })
    expect(await found("DENIED ONLY")).toMatchObject({ found: "echoed", times: { echoed: 1 } })
    expect(await found("never said")).toMatchObject({ found: "absent" })
  })

  testUnless(noClaudeCode, "is checked over HTTP and on the command line alike", async () => {
    const response = await fetch(await stage.service.url(`/executions/${id}/verify`), {
      method: "POST",
      body: JSON.stringify({ executed: "REALLY RAN" }),
      headers: { "Content-Type": "application/json" },
    })
    expect(await response.json()).toMatchObject({ executed: { found: "executed" } })

    const ran = await cli("--executed", "REALLY RAN")
    expect(ran.exitCode).toBe(0)
    expect(ran.text).toMatch(/^text +executed: 1 in outputs of tools, 1 in what the agent said/m)
    expect(ran.text).toMatch(/^tool +Bash \{"command":"printf 'REALLY.*event \d+$/m)
    expect(ran.text).toMatch(/verified\n$/)
    const said = await cli("--executed", "SAID ONLY")
    expect(said.exitCode).toBe(1)
    expect(said.text).toMatch(/^claim +refuted: the agent said it/m)
    const offline = await cli("--offline", "--executed", "TYPED ONLY")
    expect(offline.exitCode).toBe(0)
    expect(offline.text).toContain("stood in its own input")
  })

  testUnless(noClaudeCode, "is asked about sessions alone", async () => {
    const { execution_id } = await stage.client.call("execute", { command: "echo REALLY RAN" })
    const refusal = await refusalOf(
      stage.client.call("transcript.verify", { execution_id, executed: "REALLY RAN" }),
    )
    expect(refusal.failure).toMatchObject({ reason: "INVALID_PARAMS" })
    expect(refusal.message).toContain("contains")
  })
})

async function cli(...args: string[]): Promise<{ exitCode: number; text: string }> {
  const command = [executable, "verify", "--state-dir", stage.service.stateDir, ...args, id]
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" })
  return { text: await child.stdout.text(), exitCode: await child.exited }
}
