import { expect } from "bun:test"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

// Those that only touch a file would not be asked about where edits are accepted.
const commands = ["one", "two", "out.txt", "four"].map((name) => `sh -c "touch ${name}"`)

testUnless(
  noClaudeCode,
  "Claude Code does a task, asks three questions, and is denied the fourth",
  async () => {
    const model = ({ uses }: Conversation) => {
      const next = commands[uses.length]
      return next === undefined ? { say: "I ticked the box myself." } : bash(next)
    }
    await using stage = await AgentStage.set(model)
    await using folder = new WorkFolder(stage.service, {
      "T.md": "# T\n\n- [ ] **T01 – One**\n  Check: `test -f out.txt && ! test -f four`\n",
    })
    folder.commitAll()

    const run = folder.start("tasks", "run", "T.md")
    const ended = run.exited
    for (let answered = 0; answered < 3; answered += 1) {
      const { execution_id, question_id } = await until("it asks", async () => {
        const { questions } = await stage.client.call("agent.inbox", {})
        return questions[0]
      })
      const answer = { execution_id, question_id, behavior: "allow" } as const
      await stage.client.call("agent.answer", answer)
    }
    const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()])

    expect(stderr).toContain("T01, trial 1: PASSED")
    expect(await ended).toBe(0)
    expect(stdout).toContain("verified")
    expect(stderr.match(/the agent wants to use Bash/g)).toHaveLength(3)
    expect(folder.git("ls-tree", "--name-only", "cc-executor/T").split("\n")).toEqual([
      "T.md",
      "one",
      "out.txt",
      "two",
    ])
    expect(folder.leftovers).toEqual([])
  },
  90_000,
)
