import { describe, expect } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bash, refusalOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { auditEntries } from "../support/audit-lines.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const timeoutMs = 120_000

/** A model that uses one tool after another, and is done when each has answered. */
function using(...steps: { use: string; input: Record<string, unknown> }[]) {
  return ({ uses }: Conversation): ModelStep => steps[uses.length] ?? { say: "Done." }
}

const policy = `approval:
- name: touch-allowed
  tool: Bash
  input:
    command: touch [a-z]+\\.txt
  decide: allow
- name: no-removal
  tool: Bash
  input:
    command: rm .*
  decide: deny
  message: Nothing is removed here.
- name: writes-wait
  tool: Write
  decide: ask
  after: 2s
  then: deny
`

describe("a session with approval rules", () => {
  testUnless(
    noClaudeCode,
    "does what they allow, is told what they deny, and asks for the rest until time is up",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "policy.yaml")
      writeFileSync(file, policy, { mode: 0o600 })
      const answers: string[] = []
      const model = (conversation: Conversation): ModelStep => {
        answers.splice(0, answers.length, ...conversation.uses.map(({ answer }) => answer))
        return using(
          bash("touch yes.txt"),
          bash("rm yes.txt"),
          { use: "Write", input: { file_path: join(folder.path, "w.txt"), content: "x" } },
          bash("touch one.txt; touch two.txt > three.txt"),
        )(conversation)
      }
      await using stage = await AgentStage.set(model, { flags: { "policy-file": file } })
      const id = await stage.start({ prompt: "begin" })
      await stage.whenStatus(id, "the last question", ({ questions }) =>
        questions.some(({ tool }) => tool === "Bash"),
      )

      expect(existsSync(join(stage.project, "yes.txt"))).toBe(true)
      expect(existsSync(join(folder.path, "w.txt"))).toBe(false)
      expect(answers[1]).toContain(
        "Denied by the approval rule no-removal: Nothing is removed here.",
      )
      expect(answers[2]).toContain("Nobody answered within 2 s.")
      const told = (await stage.events(id)).filter(({ event }) => event === "answer")
      expect(told).toMatchObject([
        { behavior: "allow", by: "rule:touch-allowed" },
        { behavior: "deny", by: "rule:no-removal", rule_from: "service" },
        { behavior: "deny", by: "deadline", rule: "writes-wait" },
      ])
      const asked = (await stage.events(id)).filter(({ event }) => event === "question")
      expect(asked[2]).toMatchObject({ rule: "writes-wait", answer_then: "deny" })
      const waited = Date.parse(String(told[2]?.["at"])) - Date.parse(String(asked[2]?.["at"]))
      expect(waited).toBeGreaterThanOrEqual(1990)
      const noted = auditEntries(stage.service.stateDir).flatMap((entry) =>
        entry.event === "question-decided" ? [[entry.outcome, entry.what.by, entry.what.tool]] : [],
      )
      expect(noted).toEqual([
        ["allowed", "rule:touch-allowed", "Bash"],
        ["refused", "rule:no-removal", "Bash"],
        ["refused", "deadline", "Write"],
      ])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "adds its own rules to the service's, which it cannot overrule in any way",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "policy.yaml")
      writeFileSync(file, policy, { mode: 0o600 })
      const model = using(bash("rm x.txt"), bash("mkdir made"), bash("rm y.txt"))
      await using stage = await AgentStage.set(model, {
        flags: { "policy-file": file },
        variables: { IS_SANDBOX: "1" },
      })
      const approval = [{ name: "all", tool: "*", decide: "allow" as const }]
      for (const more of [
        { approval },
        { approval, permission_mode: "bypassPermissions" as const },
        { approval, args: ["--allowedTools", "Bash"] },
        {
          approval,
          permission_mode: "bypassPermissions" as const,
          env: { CLAUDE_CODE_SIMPLE: "1" },
          args: ["--settings", '{"disableAllHooks":true}'],
        },
      ]) {
        for (const name of ["x.txt", "y.txt"]) writeFileSync(join(stage.project, name), "")
        const id = await stage.start({ prompt: "begin", ...more })
        await stage.whenTurnEnded(id)

        const removed = ["x.txt", "y.txt"].map((name) => existsSync(join(stage.project, name)))
        expect({ more, removed }).toEqual({ more, removed: [true, true] })
        expect(existsSync(join(stage.project, "made"))).toBe(true)
        await stage.client.call("agent.end", { execution_id: id })
      }
      const bare = await refusalOf(stage.start({ args: ["--bare"] }))
      expect(bare.failure).toMatchObject({
        reason: "SECURITY_DENIED",
        details: { rule: "approval" },
      })
      const wrong = [{ name: "a", tool: "Bash", input: { command: "(" }, decide: "allow" as const }]
      const refusal = await refusalOf(stage.start({ approval: wrong }))
      expect(refusal.failure.reason).toBe("INVALID_PARAMS")
      expect(refusal.failure.message).toContain("not closed")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "reads the service's rules again at SIGHUP, for sessions that start after it",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "policy.yaml")
      writeFileSync(file, policy, { mode: 0o600 })
      const model = using(bash("touch now.txt"))
      await using stage = await AgentStage.set(model, { flags: { "policy-file": file } })
      writeFileSync(file, policy.replace("decide: allow", "decide: deny"))
      process.kill(stage.service.pid, "SIGHUP")
      await until("the policy is reloaded", () =>
        stage.service.log.some((line) => line.includes("policy reloaded")),
      )
      const id = await stage.start({ prompt: "begin" })
      await stage.whenTurnEnded(id)

      expect(existsSync(join(stage.project, "now.txt"))).toBe(false)
    },
    timeoutMs,
  )
})
