import { describe, expect } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { upgraded } from "../support/upgraded.ts"

const timeoutMs = 120_000

const later = (after: string, then: "allow" | "deny") => [
  { name: "later", tool: "Bash", decide: "ask" as const, after, then },
]

async function cli(stage: AgentStage, ...args: string[]) {
  const child = Bun.spawn([executable, ...args], {
    cwd: stage.project,
    env: { ...process.env, CC_EXECUTOR_STATE_DIR: stage.service.stateDir },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { out, error, exitCode: await child.exited }
}

describe("a deadline of an approval rule", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "holds while the gateway is gone and the program is upgraded, and not while it is paused",
    async () => {
      const model = ({ uses }: { uses: readonly unknown[] }) =>
        uses.length === 0 ? bash("touch late.txt") : { say: "Done." }
      await using stage = await AgentStage.set(model)
      const started = await stage.start({ prompt: "begin", approval: later("6s", "allow") })
      await stage.whenStatus(started, "a question", ({ questions }) => questions.length === 1)
      process.kill(stage.service.gatewayPid, "SIGKILL")
      await upgraded(stage.service)
      await stage.client.call("control", { type: "PAUSE", execution_id: started })
      await Bun.sleep(7000) // longer than the deadline: what is tested is that it does not count
      await stage.client.call("control", { type: "RESUME", execution_id: started })
      const open = await stage.whenStatus(started, "its status", () => true)
      expect(open.questions).toHaveLength(1)
      expect(existsSync(join(stage.project, "late.txt"))).toBe(false)

      await stage.whenTurnEnded(started)
      expect(existsSync(join(stage.project, "late.txt"))).toBe(true)
      const answers = (await stage.events(started)).filter(({ event }) => event === "answer")
      expect(answers).toMatchObject([{ by: "deadline", rule: "later", rule_from: "session" }])
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "is shown with the question, and is none for what needs a person",
    async () => {
      const question = {
        question: "Which?",
        header: "Pick",
        multiSelect: false,
        options: [
          { label: "a", description: "a" },
          { label: "b", description: "b" },
        ],
      }
      const model = ({ uses }: { uses: readonly unknown[] }) =>
        [{ use: "AskUserQuestion", input: { questions: [question] } }, bash("touch x.txt")][
          uses.length
        ] ?? { say: "Done." }
      await using stage = await AgentStage.set(model)
      writeFileSync(
        join(stage.project, "rules.yaml"),
        "- name: any-time\n  tool: Bash\n  decide: ask\n  after: 2h\n  then: deny\n" +
          "- name: everything\n  tool: '*'\n  decide: allow\n",
      )
      const started = await cli(stage, "claude", "--approval", "rules.yaml", "-d", "begin")
      expect(started).toMatchObject({ error: "", exitCode: 0 })
      const id = started.out.trim()
      await stage.whenStatus(id, "a choice", ({ questions }) => questions.length === 1)
      const choice = await cli(stage, "inbox")
      expect(choice.out).toContain("q1: AskUserQuestion")
      expect(choice.out).not.toContain("by rule")
      await cli(stage, "agent", "answer", id, "q1", "deny")

      await stage.whenStatus(id, "the command", ({ questions }) => questions[0]?.tool === "Bash")
      const shown = /Denied at 20\S+Z by rule any-time unless answered\./
      expect((await cli(stage, "inbox")).out).toMatch(shown)
      const status = await cli(stage, "agent", "status", id)
      expect(status.out).toMatch(shown)
      expect(status.out).toMatch(/^Until\s+20/m)
      await cli(stage, "agent", "answer", id, "q2", "allow")
      await stage.whenTurnEnded(id)
      expect(existsSync(join(stage.project, "x.txt"))).toBe(true)
    },
    timeoutMs,
  )
})
