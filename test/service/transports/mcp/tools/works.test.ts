import { describe, expect, test } from "bun:test"
import type { Call } from "../../../../../src/service/transports/mcp/tools/call.ts"
import { tools } from "../../../../../src/service/transports/mcp/tools/tools.ts"
import {
  type ToldStatus,
  viewOfWork,
  workText,
} from "../../../../../src/service/transports/mcp/tools/work/work-view.ts"
import { StagedExecution } from "../../../../support/staged-execution.ts"
import { scopeAround } from "../staged-scope.ts"

describe("where commands run as another user", () => {
  test.each([
    ["work_run", {}],
    ["work_status", {}],
    ["work_verify", {}],
    ["review_submit", { feedback: "read", fixes: [] }],
  ])("%s is refused", async (name, args) => {
    using staged = new StagedExecution()
    const scope = scopeAround(staged)
    const ownProgram = { ...scope.ownProgram, runAs: "worker" }

    const tool = tools.find((one) => one.name === name)
    const answer = await tool?.call({ path: "/T.md", ...args }, { ...scope, ownProgram }, call)

    expect(answer).toMatchObject({ ok: false, failure: { reason: "SECURITY_DENIED" } })
  })
})

describe("a list of a thousand tasks", () => {
  test("is shown by those that are open first, as far as a model can take it", () => {
    const tasks = Array.from({ length: 1000 }, (_, at) => task(at))

    const view = viewOfWork({ ...status, tasks, problems: tasks.map(({ id }) => `${id} is wrong`) })

    expect(view).toMatchObject({ tasks_verified: 990, tasks_open: 10, omitted_tasks: 900 })
    expect(view.tasks).toHaveLength(100)
    const states = view.tasks.slice(9, 11).map(({ state }) => state)
    expect(states).toEqual(["failed", "verified"])
    expect(view.problems).toHaveLength(20)
    expect(workText(view).length).toBeLessThan(100_000)
  })
})

function task(at: number): NonNullable<ToldStatus["tasks"]>[number] {
  const state = at < 990 ? "verified" : "failed"
  const checks = ["x".repeat(5000)]
  return { id: `T${at}`, title: "One", state, why: "FAILED: …", checks, trial: at }
}

const status: ToldStatus = {
  path: "/T.md",
  name: "T",
  kind: "tasks",
  success: 990,
  failure: 10,
  warned: 0,
  broken: 0,
  ratio: "990:10",
  interval_95: { low: 0.98, high: 0.99 },
  trials: 1000,
  last_trial: null,
  cost_usd: null,
  cost_per_success_usd: null,
  open: [],
  last_failures: [],
  problems: [],
}

const call: Call = {
  idempotencyKey: undefined,
  defaults: {},
  waitedMs: 0,
  takesTasks: false,
  progress: null,
  signal: new AbortController().signal,
  wasCanceled: () => false,
}
