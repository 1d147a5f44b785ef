import { expect } from "bun:test"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { calculator, fixList } from "../support/review-files.ts"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { placesElsewhere } from "../support/work-deeds.ts"
import { WorkFolder } from "../support/work-folder.ts"

testUnless(
  noClaudeCode ?? onlyInFull,
  "Claude Code reviews and mends, and is asked nothing on the way",
  async () => {
    await using stage = await AgentStage.set(model, { variables: placesElsewhere })
    await using folder = new WorkFolder(stage.service, calculator)
    const asked = ["review", "request", "--check", "sh calc.sh 2 3", "calc", "calc.sh"]
    const request = (await folder.run(...asked)).stdout.trim()
    folder.commitAll()

    const run = await folder.run("review", "run", request)
    folder.commitAll()
    const fixed = await folder.run("review", "fix", "executor/001_calc_fixes.json")

    expect([run.stderr, run.exitCode]).toEqual([expect.stringContaining("PASSED"), 0])
    expect(run.stderr).not.toContain("the agent wants to use")
    expect(folder.read("executor/001_calc_review_feedback.md")).toContain(
      "`sh calc.sh 2 3` | exit 0",
    )
    expect([fixed.stdout, fixed.exitCode]).toEqual([expect.stringContaining("FIXED"), 0])
    expect(folder.git("show", "cc-executor/001_calc_fixes:calc.sh")).toBe("echo 5")
    expect(folder.leftovers).toEqual([])
  },
  120_000,
)

/** A model that does what it is told. */
function model({ first, uses }: Conversation): ModelStep {
  const [place, ...done] = uses.map(({ answer }) => answer.trim())
  if (place === undefined) {
    return { use: "Bash", input: { command: "pwd", description: "where I am" } }
  }
  const write = (file: string, content: string): ModelStep => {
    return { use: "Write", input: { file_path: `${place}/${file}`, content } }
  }
  if (!first.includes("Review calc")) {
    const file_path = `${place}/calc.sh`
    if (done.length === 0) return { use: "Read", input: { file_path } }
    return done.length === 1 ? write("calc.sh", "echo 5\n") : { say: "I have fixed all of it." }
  }
  const [usage, ...written] = done
  if (usage === undefined) {
    const command = /^ +(\S.* review usage .*)$/m.exec(first)?.[1] ?? "false"
    return { use: "Bash", input: { command, description: "run the usage checks" } }
  }
  const fix = { id: 1, severity: "critical", verification: "sh tests/add.sh" }
  if (written.length === 0) return write("executor/001_calc_review_feedback.md", usage)
  if (written.length === 1) return write("executor/001_calc_fixes.json", fixList("001_calc", [fix]))
  return { say: "I have reviewed it." }
}
