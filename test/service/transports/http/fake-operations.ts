import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { fail, ok, type Result } from "../../../../src/lib/result.ts"
import { viewOf } from "../../../../src/protocol/execution-view.ts"
import { type Failure, failure } from "../../../../src/protocol/failure.ts"
import type { Caller } from "../../../../src/service/access/caller.ts"
import { noNodes } from "../../../../src/service/gateway/operations/no-nodes.ts"
import type { Operations } from "../../../../src/service/gateway/ports.ts"
import { someReceipt } from "../../storage/journal/sample-executions.ts"
import { FakeExecution } from "./fake-execution.ts"

type Watcher = {
  labels: Record<string, string> | undefined
  tell: (record: ExecutionRecord) => void
}

/** Operations in memory. Every call is remembered, and refused if the test has said so. */
export class FakeOperations implements Operations {
  policy: Operations["policy"] = "everything"
  readonly executions = new Map<string, FakeExecution>()
  readonly watchers = new Set<Watcher>()
  readonly calls: { name: string; caller: Caller; given: unknown }[] = []
  refusal: Failure | null = null
  /** Instead of answering, an operation throws this. */
  bug: Error | null = null
  startsAs: { record: ExecutionRecord; repeated: boolean } | null = null

  add(execution = new FakeExecution()): FakeExecution {
    this.executions.set(execution.record.id, execution)
    return execution
  }

  tell(record: ExecutionRecord): void {
    for (const { tell } of this.watchers) tell(record)
  }

  execute: Operations["execute"] = async (caller, params, follow) => {
    const started = this.startsAs ?? { record: this.add().record, repeated: false }
    return this.#answer("execute", caller, { params, follow }, () => ok(started))
  }

  agents: Operations["agents"] = {
    start: async (caller, params) => this.#answer("agent.start", caller, params, notScripted),
    send: async (caller, params) => this.#answer("agent.send", caller, params, notScripted),
    answer: async (caller, params) => this.#answer("agent.answer", caller, params, () => ok({})),
    interrupt: async (caller, params) =>
      this.#answer("agent.interrupt", caller, params, () => ok({})),
    end: async (caller, params) => this.#answer("agent.end", caller, params, () => ok({})),
    configure: async (caller, params) =>
      this.#answer("agent.configure", caller, params, () => ok({})),
    status: async (caller, params) => this.#answer("agent.status", caller, params, notScripted),
    changes: async (caller, params) => this.#answer("agent.changes", caller, params, notScripted),
    take: async (caller, params) => this.#answer("agent.take", caller, params, notScripted),
    drop: async (caller, params) => this.#answer("agent.drop", caller, params, notScripted),
    inbox: async (caller, params) =>
      this.#answer("agent.inbox", caller, params, () => ok({ questions: [], interrupted: [] })),
  }

  nodes: Operations["nodes"] = noNodes
  notify: Operations["notify"] = {
    list: async (caller, params) =>
      this.#answer("notify.list", caller, params, () => ok({ targets: [], deliveries: [] })),
    test: async (caller, params) => this.#answer("notify.test", caller, params, notScripted),
  }

  trials: Operations["trials"] = {
    begin: async (caller, params) => this.#answer("trial.begin", caller, params, notScripted),
    renew: async (caller, params) => this.#answer("trial.renew", caller, params, notScripted),
    end: async (caller, params) => this.#answer("trial.end", caller, params, notScripted),
    status: async (caller, params) => this.#answer("trial.status", caller, params, notScripted),
    list: async (caller, params) => this.#answer("trial.list", caller, params, notScripted),
  }

  control: Operations["control"] = async (caller, executionId, order) =>
    this.#about(executionId, "control", caller, { executionId, order }, () => {
      return ok({ status: "paused", execution_id: executionId })
    })

  input: Operations["input"] = async (caller, executionId, input) =>
    this.#about(executionId, "input", caller, { executionId, input }, () => {
      return ok({ accepted: input.data.length, offset: input.data.length })
    })

  resize: Operations["resize"] = async (caller, executionId, size) =>
    this.#about(executionId, "resize", caller, { executionId, size }, () => ok({}))

  screen: Operations["screen"] = async (caller, params) =>
    this.#answer("screen", caller, params, notScripted)

  openScreen: Operations["openScreen"] = async (caller, executionId, scrollback) =>
    this.#answer("openScreen", caller, { executionId, scrollback }, notScripted)

  declareSize: Operations["declareSize"] = () => ({
    change: async () => ok({}),
    [Symbol.dispose]: () => undefined,
  })

  remove: Operations["remove"] = async (caller, executionId) =>
    this.#about(executionId, "remove", caller, { executionId }, () => ok({}))

  list: Operations["list"] = async (caller, params) =>
    this.#answer("list", caller, params, () => {
      const executions = [...this.executions.values()].map(({ record }) => viewOf(record))
      return ok({ executions, cursor: "more" })
    })

  status: Operations["status"] = async (caller, executionId) =>
    this.#about(executionId, "status", caller, { executionId }, ({ record }) => ok(record))

  receipt: Operations["receipt"] = async (caller, executionId) =>
    this.#about(executionId, "receipt", caller, { executionId }, () => ok(someReceipt))

  readTranscript: Operations["readTranscript"] = async (caller, params) =>
    this.#about(params.execution_id, "readTranscript", caller, params, () => {
      return ok({ chunks: [], next: "c0", ended: false })
    })

  readOutput: Operations["readOutput"] = () => {
    throw new Error("over HTTP output is encoded")
  }

  search: Operations["search"] = async (caller, params) =>
    this.#about(params.execution_id, "search", caller, params, () =>
      ok({ matches: [], next: params.from, complete: true, searched_bytes: 0 }),
    )

  verify: Operations["verify"] = async (caller, params) =>
    this.#about(params.execution_id, "verify", caller, params, () => {
      return ok({ verified: true, chain: "intact" })
    })

  open: Operations["open"] = async (caller, executionId, from) =>
    this.#about(executionId, "open", caller, { executionId, from }, (execution) => {
      const feed = execution.open(from)
      return feed === null ? fail(failure("INVALID_PARAMS", "That is no cursor.")) : ok(feed)
    })

  openStarted: Operations["openStarted"] = () => {
    throw new Error("over HTTP nobody follows what they start")
  }

  drive: Operations["drive"] = () => {
    throw new Error("nobody drives over HTTP")
  }

  watch: Operations["watch"] = (_caller, labels, tell) => {
    const watcher = { labels, tell }
    this.watchers.add(watcher)
    return ok({ [Symbol.dispose]: () => void this.watchers.delete(watcher) })
  }

  #about<Value>(
    executionId: string,
    name: string,
    caller: Caller,
    given: unknown,
    answer: (execution: FakeExecution) => Result<Value, Failure>,
  ): Result<Value, Failure> {
    const execution = this.executions.get(executionId)
    if (execution === undefined) return fail(failure("PROCESS_NOT_FOUND", "There is none."))
    return this.#answer(name, caller, given, () => answer(execution))
  }

  #answer<Value>(
    name: string,
    caller: Caller,
    given: unknown,
    answer: () => Result<Value, Failure>,
  ): Result<Value, Failure> {
    if (this.bug !== null) throw this.bug
    this.calls.push({ name, caller, given })
    return this.refusal === null ? answer() : fail(this.refusal)
  }
}

const notScripted = () => fail(failure("WRONG_STATE", "No session is scripted here."))
