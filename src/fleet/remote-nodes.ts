import type { ExecutionRecord } from "../execution/record.ts"
import { fail } from "../lib/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Operations } from "../service/gateway/ports.ts"
import type { IndexRecords } from "./index-records.ts"
import type { Members } from "./members.ts"
import type { FleetNode, RemoteOperations } from "./ports.ts"

/** The other nodes, each by the address it has said last; connected when they are asked. */
export class RemoteNodes implements Disposable {
  readonly #members: Members
  readonly #open: (node: FleetNode) => RemoteOperations
  readonly #index: Pick<IndexRecords, "started">
  readonly #opened = new Map<string, { address: string; operations: RemoteOperations }>()

  constructor(
    members: Members,
    open: (node: FleetNode) => RemoteOperations,
    index: Pick<IndexRecords, "started">,
  ) {
    this.#members = members
    this.#open = open
    this.#index = index
  }

  /** What was started there is known here before its node has told of it. */
  executeOn(name: string): Operations["execute"] {
    return async (caller, params, follow) => {
      const remote = this.operations(name)
      if (remote === null) return fail(notReached(name))
      const started = await remote.execute(caller, params, follow)
      if (started.ok) this.#index.started(name, started.value.record)
      return started
    }
  }

  /** Null for what is no node, or silent. */
  operations(name: string): Operations | null {
    const member = this.#members.find(name)
    if (member === null || !this.#members.isReachable(name)) return null
    const { address } = member.entry
    const known = this.#opened.get(name)
    if (known?.address === address) return known.operations
    known?.operations[Symbol.dispose]()
    const operations = this.#open({ name, address })
    this.#opened.set(name, { address, operations })
    return operations
  }

  /** Whoever follows it is told that end. */
  lost(node: string, record: ExecutionRecord): void {
    this.#opened.get(node)?.operations.lost(record)
  }

  [Symbol.dispose](): void {
    for (const { operations } of this.#opened.values()) operations[Symbol.dispose]()
    this.#opened.clear()
  }
}

function notReached(node: string): Failure {
  return failure("SHUTTING_DOWN", `Node ${node} cannot be reached.`, { node, retry_after: 1 })
}
