import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Client, connect } from "../../src/client/connect.ts"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { readEnvironment } from "../../src/service/os/proc.ts"
import { scriptedAgentPath } from "../support/agent-deeds.ts"
import { processesOf, refusalOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { Repository } from "../support/repository.ts"
import { Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

// An agent that says nothing of note: what it would have done in its worktree, the tests do.

const timeoutMs = 60_000
let stage: AgentStage
let repository: Repository

beforeAll(async () => {
  repository = Repository.withCommit()
  // As of somebody who was in the middle of another repository's affairs.
  const variables = {
    PATH: scriptedAgentPath,
    GIT_DIR: "/nowhere/.git",
    GIT_INDEX_FILE: "/nowhere",
  }
  stage = await AgentStage.set(() => ({ say: "nothing" }), { variables })
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

const start = (more: Partial<ParamsOf<"agent.start">> = {}) =>
  stage.client.call("agent.start", { cwd: repository.path, worktree: "fix", ...more })

async function end(id: string): Promise<void> {
  await stage.client.call("agent.end", { execution_id: id })
  await stage.whenEnded(id)
}

const hasNoWorktrees = () => !existsSync(join(repository.path, ".cc-executor"))

describe("a session in a worktree", () => {
  test(
    "works there, is known by it, and leaves it to be looked at and taken",
    async () => {
      const { execution_id, worktree, note } = await start({ prompt: "say" })
      const id = { execution_id }
      const path = join(repository.path, ".cc-executor/worktrees/fix")
      expect(worktree).toMatchObject({ name: "fix", path, onto: "main", base: repository.path })
      expect(note).toMatch(/^It works in .*, on the new branch cc-executor\/fix, from /)
      await stage.whenTurnEnded(execution_id)
      expect(await stage.client.call("status", id)).toMatchObject({ cwd: path, worktree })
      expect(await stage.status(execution_id)).toMatchObject({ worktree })
      for (const pid of processesOf(execution_id)) {
        expect(readEnvironment(pid)).not.toMatch(/GIT_DIR|GIT_INDEX_FILE/)
      }
      repository.write("sum.js", "one\n2\nthree\n", path)

      const busy = await refusalOf(stage.client.call("agent.take", id))
      expect(busy.failure).toMatchObject({ reason: "WRONG_STATE" })
      expect(
        (await refusalOf(stage.client.call("agent.drop", { ...id, force: true }))).message,
      ).toMatch(/works in this worktree still: end it first/)
      await end(execution_id)
      const lines = (await stage.cli("agent", "changes", execution_id)).split("\n")
      expect(lines).toContain("Changes   1 file +1 −1, 1 not committed")
      expect(await stage.cli("agent", "take", execution_id)).toBe(
        "Taken into main: 1 file +1 −1, changes in 1 file not committed. " +
          "Its worktree and its branch are gone.",
      )
      expect(repository.read("sum.js")).toBe("one\n2\nthree\n")
      expect(hasNoWorktrees()).toBe(true)
      expect(await stage.client.call("agent.changes", id)).toMatchObject({ exists: false })
      repository.git("checkout", "--quiet", "sum.js")
    },
    timeoutMs,
  )

  test(
    "goes on there after a kill of the keeper, or when it is resumed, and can be dropped",
    async () => {
      const { execution_id: id, worktree } = await start({ prompt: "hang" })
      await stage.whenStatus(id, "the turn has begun", ({ turns }) => turns.current !== null)
      repository.write("new.txt", "kept\n", worktree?.path)
      await stage.crash()

      const next = await stage.whenRestarted(id)
      const about = { execution_id: next }
      const view = await stage.client.call("status", about)
      expect(view).toMatchObject({ worktree, cwd: worktree?.path, restart_of: id })
      expect(await stage.client.call("agent.changes", about)).toMatchObject({ untracked: 1 })
      await stage.client.call("control", { ...about, type: "CANCEL" })
      await stage.whenEnded(next)
      const resumed = await stage.client.call("agent.start", { resume: next })
      expect(resumed.worktree).toEqual(worktree)
      await end(resumed.execution_id)

      const refused = await refusalOf(stage.client.call("agent.drop", about))
      expect(refused.failure).toMatchObject({ reason: "GIT_REFUSED" })
      expect(refused.message).toMatch(/nowhere else: uncommitted changes in 1 file/)
      const { kept } = await stage.client.call("agent.drop", { ...about, force: true })
      expect(repository.git("show", `${kept}:new.txt`)).toBe("kept")
      expect(hasNoWorktrees()).toBe(true)
    },
    timeoutMs,
  )
})

describe("a start that is refused", () => {
  test(
    "leaves no worktree, and no execution, whatever refuses it",
    async () => {
      const { execution_id } = await start({ labels: { name: "taken" } })
      const listed = async () => (await stage.client.call("list", {})).executions.length
      const before = await listed()

      const inUse = await refusalOf(start())
      const named = await refusalOf(start({ worktree: "other", labels: { name: "taken" } }))
      const outside = await refusalOf(start({ cwd: "/", worktree: "other" }))
      const bad = await refusalOf(start({ worktree: "../evil" }))

      expect(inUse.message).toMatch(/fix is in use by a session that runs/)
      expect(named.failure.reason).toBe("NAME_IN_USE")
      expect(outside.message).toMatch(/^\/ is not in a git repository/)
      expect(bad.failure.reason).toBe("INVALID_PARAMS")
      expect(await listed()).toBe(before)
      const place = join(repository.path, ".cc-executor/worktrees")
      expect(readdirSync(place)).toEqual(["fix"])
      expect(repository.git("branch", "--list", "cc-executor/*")).toBe("+ cc-executor/fix")
      await end(execution_id)
      await stage.client.call("agent.drop", { execution_id })
      const audit = await stage.cli("audit", "-n", "50")
      expect(audit).toMatch(/agent\.drop/)
      expect(audit).toMatch(/GIT_REFUSED/)
    },
    timeoutMs,
  )

  test(
    "is no second one where it repeats an earlier one by its key",
    async () => {
      const [first, second] = await Promise.all([
        start({ idempotency_key: "once" }),
        start({ idempotency_key: "once" }),
      ])
      expect(second.execution_id).toBe(first.execution_id)
      await end(first.execution_id)
      await stage.client.call("agent.drop", { execution_id: first.execution_id })
    },
    timeoutMs,
  )

  test(
    "while it waits in the queue leaves nothing, either",
    async () => {
      const env = { ...stage.environment, PATH: scriptedAgentPath }
      await using service = await Service.start({ flags: { "max-executions": "1" }, env })
      await using client: Client = connect({ url: await service.url() })
      await client.call("execute", { argv: ["sleep", "1000"] })
      const asked = { cwd: repository.path, worktree: "queued" }
      const { execution_id } = await client.call("agent.start", asked)
      const path = join(repository.path, ".cc-executor/worktrees/queued")
      expect(existsSync(path)).toBe(true)

      await client.call("control", { execution_id, type: "CANCEL" })

      await until("it is taken back", () => !existsSync(path))
    },
    timeoutMs,
  )

  test(
    "for want of git says so",
    async () => {
      const [path = ""] = scriptedAgentPath.split(":")
      await using service = await Service.start({ env: { PATH: path } })
      await using client: Client = connect({ url: await service.url() })
      const asked = { cwd: repository.path, worktree: "x" }
      const refused = await refusalOf(client.call("agent.start", asked))
      expect(refused.message).toMatch(/^A worktree needs git\. .*not found in the service.s PATH/)
    },
    timeoutMs,
  )
})

describe("a service whose sessions run as another user", () => {
  const uid = 65_534

  testUnless(
    notRoot,
    "runs git as that user, and not as root in a repository of somebody else",
    async () => {
      using theirs = Repository.withCommit()
      chmodSync(dirname(theirs.path), 0o755)
      const all = Bun.spawnSync(["chown", "-R", `${uid}:${uid}`, theirs.path])
      expect(all.exitCode).toBe(0)
      const asRoot = await refusalOf(start({ cwd: theirs.path, worktree: "x" }))
      expect(asRoot.message).toMatch(/belongs to user 65534, and git would run as user 0/)

      const env = { ...stage.environment, PATH: scriptedAgentPath, HOME: "/" }
      const flags = { "run-as": `${uid}:${uid}` }
      await using service = await Service.start({ flags, env, cwd: "/" })
      await using client: Client = connect({ url: await service.url() })
      const started = await client.call("agent.start", { cwd: theirs.path, worktree: "x" })
      const path = started.worktree?.path ?? ""
      expect(statSync(path).uid).toBe(uid)
      expect(statSync(join(path, "sum.js")).uid).toBe(uid)
      await client.call("control", { execution_id: started.execution_id, type: "CANCEL" })
    },
    timeoutMs,
  )
})
