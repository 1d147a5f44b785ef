import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import { AutoResetEvent } from "../../../../lib/auto-reset-event.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"

/** Clients whose patience begins anew with every progress have at least ten seconds of it. */
const progressEveryMs = 5000
/** The first one comes sooner: over HTTP an answer can be gone on with once it has begun. */
const firstProgressMs = 500

export type Awaited = {
  isThere(record: ExecutionRecord): boolean
  /** How far it is, in words. */
  progress(record: ExecutionRecord): string
}

/**
 * Waits until an execution is as awaited, for so long, while anybody wants the answer and can
 * still be given one: its newest record. Whose token was revoked meanwhile is told so.
 */
export async function waitUntil(
  scope: McpScope,
  call: Call,
  executionId: string,
  mostMs: number,
  awaited: Awaited,
): Promise<Result<ExecutionRecord, Failure>> {
  const { operations, caller } = scope
  const opened = await operations.open(caller, executionId, "tail")
  if (!opened.ok) return opened
  using feed = opened.value
  using resources = new DisposableStack()
  const looked = new AutoResetEvent()
  let isOver = false
  const stop = () => {
    isOver = true
    looked.set()
  }
  // Whoever gave a call its key sends it again when the connection is lost.
  const isRepeated = call.idempotencyKey !== undefined
  const signals = [call.signal, scope.closing, ...(isRepeated ? [] : [scope.replacing])]
  const look = () => {
    if (signals.some(({ aborted }) => aborted) || !caller.isStillGood()) stop()
    else if (awaited.isThere(feed.record())) looked.set()
  }
  resources.use(feed.onAdvance(look))
  for (const signal of signals) {
    signal.addEventListener("abort", look)
    resources.defer(() => signal.removeEventListener("abort", look))
  }
  const leftMs = mostMs - call.waitedMs
  if (leftMs > 0) resources.use(scope.after(leftMs, stop))
  else stop()
  tellProgress(scope, call, feed.executionId, awaited, resources)
  look()
  while (true) {
    await looked.wait()
    if (hasEnded(feed.record())) return ok(feed.record())
    // While it runs, how far it has come is known by whoever is asked now.
    const now = await operations.status(caller, feed.executionId)
    if (isOver || !now.ok || awaited.isThere(now.value)) return now
  }
}

function tellProgress(
  scope: McpScope,
  { progress, signal }: Call,
  executionId: string,
  awaited: Awaited,
  resources: DisposableStack,
): void {
  if (progress === null) return
  const startedMs = scope.monotonicMs()
  let timer: Disposable | null = null
  const tell = async () => {
    const status = await scope.operations.status(scope.caller, executionId)
    if (resources.disposed || signal.aborted) return
    const seconds = (scope.monotonicMs() - startedMs) / 1000
    // With its id: whoever loses the answer with the connection knows what to ask for.
    const message = status.ok ? awaited.progress(status.value) : `Execution ${executionId}: waiting`
    await progress(seconds, message)
    waitAndTell(progressEveryMs)
  }
  const waitAndTell = (delayMs: number) => {
    if (resources.disposed) return
    timer = scope.after(delayMs, () => {
      tell().catch((error: unknown) => {
        scope.log.debug({ err: error }, "progress could not be sent")
      })
    })
  }
  resources.defer(() => timer?.[Symbol.dispose]())
  waitAndTell(firstProgressMs)
}
