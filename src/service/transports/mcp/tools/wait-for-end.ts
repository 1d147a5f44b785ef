import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import { outcomeText, summaryOf } from "../execution-summary.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"

/** Clients whose patience begins anew with every progress have at least ten seconds of it. */
const progressEveryMs = 5000
/** The first one comes sooner: over HTTP an answer can be gone on with once it has begun. */
const firstProgressMs = 500

/** Waits for an execution's end, for so long, while anybody wants the answer: its newest record. */
export async function waitForEnd(
  scope: McpScope,
  call: Call,
  executionId: string,
  mostMs: number,
): Promise<Result<ExecutionRecord, Failure>> {
  const { operations, caller } = scope
  const opened = await operations.open(caller, executionId, "tail")
  if (!opened.ok) return opened
  using feed = opened.value
  using resources = new DisposableStack()
  const { promise: isOver, resolve: stop } = Promise.withResolvers<void>()
  const look = () => {
    if (hasEnded(feed.record()) || call.signal.aborted || !caller.isStillGood()) stop()
  }
  resources.use(feed.onAdvance(look))
  call.signal.addEventListener("abort", look)
  resources.defer(() => call.signal.removeEventListener("abort", look))
  const leftMs = mostMs - call.waitedMs
  if (leftMs > 0) resources.use(scope.after(leftMs, stop))
  else stop()
  tellProgress(scope, call, executionId, resources)
  look()
  await isOver
  // While it runs, how far it has come is known by whoever is asked now.
  return hasEnded(feed.record()) ? ok(feed.record()) : await operations.status(caller, executionId)
}

function tellProgress(
  scope: McpScope,
  { progress, signal }: Call,
  executionId: string,
  resources: DisposableStack,
): void {
  if (progress === null) return
  const startedMs = scope.monotonicMs()
  let timer: Disposable | null = null
  const tell = async () => {
    const status = await scope.operations.status(scope.caller, executionId)
    if (resources.disposed || signal.aborted) return
    const seconds = (scope.monotonicMs() - startedMs) / 1000
    const message = status.ok ? outcomeText(summaryOf(status.value)) : "waiting"
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
