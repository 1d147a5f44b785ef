import { expect } from "bun:test"
import { z } from "zod"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { ClaudeCode, noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import { MessagesApi, type ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { placesElsewhere } from "../support/work-deeds.ts"
import { WorkFolder } from "../support/work-folder.ts"

const timeoutMs = 120_000

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
  timeoutMs,
)

const list = `---
agent: claude
---
# Release

- [ ] **T01 – Write the notes**
  Check: \`grep -q faster NOTES.md\`
`

testUnless(
  noClaudeCode ?? onlyInFull,
  "Claude Code does a task with its own tools, and its box is ticked",
  async () => {
    await using stage = await AgentStage.set(worker, { variables: placesElsewhere })
    await using folder = new WorkFolder(stage.service, { "T.md": list })
    folder.commitAll()

    const run = await folder.run("tasks", "run", "--permission-mode=acceptEdits", "T.md")

    expect([run.stderr, run.exitCode]).toEqual([expect.stringContaining("PASSED"), 0])
    expect(folder.read("T.md")).toContain("- [x] **T01")
    expect(folder.git("show", "cc-executor/T:NOTES.md")).toBe("It is faster.")
    const { first, uses } = stage.api.conversations.at(-1) ?? { first: "", uses: [] }
    expect(first).toContain("grep -q faster NOTES.md")
    expect(uses.map(({ tool, isError }) => [tool, isError])).toEqual([
      ["Bash", false],
      ["Write", false],
    ])
    const { executions } = await stage.client.call("list", {})
    expect(executions.filter(({ agent }) => agent !== undefined)).toHaveLength(1)
    expect(await folder.json("verify", "T.md")).toMatchObject({
      exitCode: 0,
      status: { success: 1, tasks: [{ state: "verified" }] },
    })
  },
  timeoutMs,
)

/** Finds out where it is, and writes its file there. */
function worker({ uses }: Conversation): ModelStep {
  const [asked, written] = uses
  if (asked === undefined) {
    return { use: "Bash", input: { command: "pwd", description: "where I am" } }
  }
  if (written !== undefined) return { say: "T01 is done." }
  const file_path = `${asked.answer.trim()}/NOTES.md`
  return { use: "Write", input: { file_path, content: "It is faster.\n" } }
}

testUnless(
  noClaudeCode ?? onlyInFull,
  "an assistant has a list worked off, and tells what is really done",
  async () => {
    const files = { "T.md": list.replace("agent: claude", "agent: echo faster > NOTES.md") }
    await using service = await Service.start({ env: placesElsewhere })
    await using folder = new WorkFolder(service, files)
    const path = `${folder.path}/T.md`
    await using api = new MessagesApi((conversation) => assistant(conversation, path))
    const args = ["mcp", "--state-dir", service.stateDir]
    await using claude = new ClaudeCode(api, { command: executable, args })

    expect(await claude.run("Work off T.md.").answer()).toBe("Done: T01. Verified: true.")

    expect(api.conversations.at(-1)?.uses.filter(({ isError }) => isError)).toEqual([])
    expect(folder.read("T.md")).toContain("- [x] **T01")
  },
  timeoutMs,
)

const Started = z.object({ execution_id: z.string() })
const Status = z.object({ tasks: z.array(z.object({ id: z.string(), state: z.string() })) })
const Verdict = z.object({ verified: z.boolean() })

/** A model that does what the notes of the tools tell it to. */
function assistant({ uses }: Conversation, path: string): ModelStep {
  const [run, waited, status, verdict] = uses.map(({ answer }) => answer)
  if (run === undefined) return { use: "work_run", input: { path } }
  if (waited === undefined) return { use: "wait", input: Started.parse(JSON.parse(run)) }
  if (status === undefined) return { use: "work_status", input: { path } }
  if (verdict === undefined) return { use: "work_verify", input: { path } }
  const done = Status.parse(JSON.parse(status)).tasks.filter(({ state }) => state === "verified")
  const { verified } = Verdict.parse(JSON.parse(verdict))
  return { say: `Done: ${done.map(({ id }) => id).join(", ")}. Verified: ${verified}.` }
}
