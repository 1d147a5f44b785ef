import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { ExecutionView } from "../../src/protocol/execution-view.ts"
import { scriptedAgentPath } from "../support/agent-deeds.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { Repository } from "../support/repository.ts"
import { collectLines, executable } from "../support/service.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000
let stage: AgentStage
let repository: Repository

beforeAll(async () => {
  repository = Repository.withCommit()
  stage = await AgentStage.set(() => ({ say: "nothing" }), {
    variables: { PATH: scriptedAgentPath },
  })
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

function each(...args: string[]) {
  const { stateDir } = stage.service
  return Bun.spawn([executable, "claude", "--each", ...args, "--state-dir", stateDir], {
    cwd: repository.path,
    env: { ...process.env, ...stage.environment },
    stdin: Buffer.from("say from a pipe\n"),
    stdout: "pipe",
    stderr: "pipe",
  })
}

/** How many of them lived at the same moment, as their records say. */
function mostAtOnce(executions: readonly ExecutionView[]): number {
  const changes = executions.flatMap(({ created_at, ended_at }) => [
    { at: created_at, by: 1 },
    { at: ended_at ?? "9999", by: -1 },
  ])
  // At the same moment, one ends before the next begins.
  const inOrder = changes.toSorted(
    (one, other) => one.at.localeCompare(other.at) || one.by - other.by,
  )
  let live = 0
  return Math.max(...inOrder.map(({ by }) => (live += by)))
}

const isBusy = (agent: ExecutionView["agent"]) => (agent?.turns.current ?? null) !== null

async function sessions(label: string) {
  const { executions } = await stage.client.call("list", { labels: { each: label } })
  return executions
}

test(
  "every line of a file has a session, some at a time, and a row of what came of it",
  async () => {
    repository.write("todo.txt", "# all of it\nsay one\n\nsay two\nsay three\n")
    const command = each("todo.txt", "-j", "2")

    expect(await command.exited).toBe(0)
    expect(mostAtOnce(await sessions("todo"))).toBeLessThanOrEqual(2)
    const rows = (await command.stdout.text()).trim().split("\n")
    expect(rows).toHaveLength(4)
    expect(rows[0]).toMatch(/^ID +STATE +TIME +TURNS +COST +CHANGES +PROMPT$/)
    expect(rows[1]).toMatch(/^\w{8} +success +\S+ +1 +\$0\.00 +no changes +say one$/)
    const all = await sessions("todo")
    for (const { worktree, labels } of all) {
      const path = join(repository.path, ".cc-executor/worktrees", labels["name"] ?? "")
      expect(worktree?.path).toBe(path)
    }
    expect(new Set(all.map(({ cwd }) => cwd)).size).toBe(3)

    const compared = (await stage.cli("ps", "-a", "--changes", "--label", "each=todo")).split("\n")
    expect(compared[0]).toMatch(/TURNS +CHANGES +NAME/)
    expect(compared[1]).toMatch(/1 +no changes +todo-say-/)
  },
  timeoutMs,
)

test(
  "two lines go on at the same time where two were asked for, and a third one waits",
  async () => {
    repository.write("pair.txt", "hang\nask\nsay more\n")
    const command = each("pair.txt", "-j", "2")
    const both = await until("both are under way", async () => {
      const all = await sessions("pair")
      return all.filter(({ agent }) => isBusy(agent)).length === 2 && all
    })

    expect(both).toHaveLength(2)
    for (const { execution_id } of both) {
      await stage.client.call("agent.interrupt", { execution_id })
    }
    expect(await command.exited).toBe(1)
    expect(await sessions("pair")).toHaveLength(3)
  },
  timeoutMs,
)

test(
  "a command that was killed is repeated, and finds what it has started",
  async () => {
    repository.write("more.txt", "say first\nhang\nsay last\n")
    const killed = each("more.txt", "-j", "1")
    const hanging = await until("the second line is under way", async () => {
      const all = await sessions("more")
      return all.find(({ agent, worktree }) => {
        return isBusy(agent) && worktree?.name.startsWith("more-hang") === true
      })
    })
    killed.kill("SIGKILL")
    await killed.exited

    const again = each("more.txt", "-j", "1")
    const { execution_id } = hanging ?? { execution_id: "" }
    await stage.client.call("agent.interrupt", { execution_id })
    expect(await again.exited).toBe(1)

    const rows = (await again.stdout.text()).trim().split("\n")
    expect(rows.map((row) => /success|interrupted/.exec(row)?.[0])).toEqual([
      undefined,
      "success",
      "interrupted",
      "success",
    ])
    expect(await sessions("more")).toHaveLength(3)
  },
  timeoutMs,
)

test(
  "Ctrl-C starts nothing more, a second one leaves what runs",
  async () => {
    repository.write("slow.txt", "hang\nsay never\n")
    const command = each("slow.txt", "-j", "1")
    const [session] = await until("the first line is under way", async () => {
      const all = await sessions("slow")
      return all.some(({ agent }) => isBusy(agent)) && all
    })
    const said: string[] = []
    const heard = collectLines(command.stderr, (line) => said.push(line))
    command.kill("SIGINT")
    await until("it has heard that", () => said.some((line) => line.startsWith("No further line")))
    command.kill("SIGINT")

    expect(await command.exited).toBe(130)
    await heard
    expect(said.at(-1)).toMatch(/^Not done: 2 lines, of which 1 go on without this command\./)
    expect((await sessions("slow")).map(({ state }) => state)).toEqual(["running"])
    const { execution_id = "" } = session ?? {}
    await stage.client.call("control", { execution_id, type: "CANCEL" })
  },
  timeoutMs,
)

test(
  "lines come from a pipe as well, and what git refuses is told of every line",
  async () => {
    const piped = each("-")
    expect(await piped.exited).toBe(0)
    expect(await piped.stdout.text()).toMatch(/success .* say from a pipe/)
    expect(existsSync(join(repository.path, ".cc-executor/worktrees"))).toBe(true)

    const outside = each("-", "--cwd", "/")
    expect(await outside.exited).toBe(1)
    expect(await outside.stderr.text()).toMatch(/each-say-from-a-pipe-\w+: \/ is not in a git/)
    const wrong = each("-", "--detach")
    expect(await wrong.exited).toBe(2)
    expect(await wrong.stderr.text()).toMatch(/--detach cannot be used with --each/)
  },
  timeoutMs,
)
