import type { ExecutionRecord } from "../../../execution/record.ts"
import { ok, type Result } from "../../../lib/result.ts"
import { viewOf } from "../../../protocol/execution-view.ts"
import type { Failure } from "../../../protocol/failure.ts"
import { notificationMessage } from "../../../protocol/json-rpc.ts"
import type { Caller } from "../../access/caller.ts"
import type { Operations } from "../../gateway/ports.ts"
import type { SubscriberSocket } from "./subscription.ts"

const mostUntold = 1000

export type WatcherSocket = SubscriberSocket & {
  readonly caller: Caller
  readonly operations: Operations
}

/** What a session is told after `watch`: of an execution that changes on, the newest is enough. */
export class WatchedChanges implements Disposable {
  readonly #socket: WatcherSocket
  readonly #tooSlow: () => void
  readonly #message: (record: ExecutionRecord) => string
  readonly #untold = new Map<string, ExecutionRecord>()
  #watch: Disposable | null = null

  /** `tooSlow`: too much has changed that the client has not been told of. */
  constructor(socket: WatcherSocket, tooSlow: () => void, message = viewMessage) {
    this.#socket = socket
    this.#tooSlow = tooSlow
    this.#message = message
  }

  watch(labels: Record<string, string> | undefined): Result<Record<string, never>, Failure> {
    const { operations, caller } = this.#socket
    // The new one first: when the last watcher leaves, the keeper is told, and nothing waits for
    // that. A session that asks again and again would pile up such messages.
    const watching = operations.watch(caller, labels, (record) => this.#tell(record))
    if (!watching.ok) return watching
    using _earlier = this.#watch
    this.#watch = watching.value
    return ok({})
  }

  drained(): void {
    for (const [id, record] of this.#untold) {
      if (this.#socket.isBlocked) return
      this.#untold.delete(id)
      this.#tell(record)
    }
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]()
  }

  #tell(record: ExecutionRecord): void {
    if (!this.#socket.isBlocked) {
      this.#socket.send(this.#message(record))
      return
    }
    this.#untold.set(record.id, record)
    if (this.#untold.size > mostUntold) this.#tooSlow()
  }
}

function viewMessage(record: ExecutionRecord): string {
  return notificationMessage("execution.changed", viewOf(record))
}
