import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { OutputFeed } from "../../../gateway/ports.ts"
import type { McpScope } from "../ports.ts"
import { type ResourceKind, readResourceUri } from "./resource-uri.ts"

const mostWanted = 100
/** Of a transcript that grows: so often at most, however fast it does. */
const tellEveryMs = 1000

/** Tells one client which of the resources it has asked for have changed. */
export class ResourceUpdates implements Disposable {
  readonly #scope: McpScope
  readonly #tell: (uri: string) => void
  readonly #wanted = new Map<string, Disposable>()
  #isOver = false

  constructor(scope: McpScope, tell: (uri: string) => void) {
    this.#scope = scope
    this.#tell = tell
  }

  /** Only for what the caller may read: else it could find out that there is something. */
  async want(uri: string): Promise<Result<null, Failure>> {
    const resource = readResourceUri(uri)
    if (resource === null) return fail(failure("PROCESS_NOT_FOUND", `Unknown resource: ${uri}.`))
    if (this.#wanted.has(uri)) return ok(null)
    if (this.#wanted.size >= mostWanted) return fail(tooMany)
    const { operations, caller } = this.#scope
    const opened = await operations.open(caller, resource.id, "tail")
    if (!opened.ok) return opened
    this.unwant(uri) // the same may have been asked for meanwhile
    if (this.#isOver || hasEnded(opened.value.record())) opened.value[Symbol.dispose]()
    else this.#follow(uri, resource.kind, opened.value)
    return ok(null)
  }

  unwant(uri: string): void {
    this.#wanted.get(uri)?.[Symbol.dispose]()
    this.#wanted.delete(uri)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    for (const updates of this.#wanted.values()) updates[Symbol.dispose]()
    this.#wanted.clear()
  }

  /** After its end nothing changes any more. */
  #follow(uri: string, kind: ResourceKind, feed: OutputFeed): void {
    const updates = new DisposableStack()
    updates.use(feed)
    this.#wanted.set(uri, updates)
    let last = feed.record()
    const look = () => {
      const now = feed.record()
      const hasChanged = kind === "transcript" ? hasGrown(last, now) : hasMoved(last, now)
      last = now
      if (hasChanged) this.#tell(uri)
      if (hasEnded(now)) this.unwant(uri)
    }
    updates.use(feed.onAdvance(this.#slowly(look, updates)))
  }

  #slowly(look: () => void, updates: DisposableStack): () => void {
    let timer: Disposable | null = null
    updates.defer(() => timer?.[Symbol.dispose]())
    return () => {
      timer ??= this.#scope.after(tellEveryMs, () => {
        timer = null
        look()
      })
    }
  }
}

function hasGrown(before: ExecutionRecord, now: ExecutionRecord): boolean {
  return now.transcript.end.sequence > before.transcript.end.sequence || hasMoved(before, now)
}

function hasMoved(before: ExecutionRecord, now: ExecutionRecord): boolean {
  return before.state.kind !== now.state.kind
}

const tooMany = failure(
  "AT_CAPACITY",
  `${mostWanted} resources are already subscribed: unsubscribe from one first.`,
)
