import type { Clock, ProcessTree } from "../ports.ts"
import { retriedWhileShort } from "../shortages.ts"
import { nextTurn, sleep } from "../sleep.ts"
import type { Recorder } from "./recorder.ts"

const firstLookMs = 1
const longestLookMs = 50

/** Mostly a leader was alone, and its pipes end with it: then there is nothing to drain. */
export async function leavesNothing(
  tree: ProcessTree,
  recorder: Pick<Recorder, "isDone">,
  clock: Clock,
): Promise<boolean> {
  if (!recorder.isDone) await nextTurn()
  return recorder.isDone && (await isEmpty(tree, clock))
}

async function isEmpty(tree: ProcessTree, clock: Clock): Promise<boolean> {
  const members = await retriedWhileShort(clock, () => tree.members())
  return members.length === 0
}

/** Waits for a tree whose leader is gone to empty itself; false when it has not. */
export async function lingerUntilEmpty(
  tree: ProcessTree,
  clock: Clock,
  linger: { lingerMs: number; isOver: () => boolean; hurry: AbortSignal },
): Promise<boolean> {
  const deadline = clock.monotonicMs() + linger.lingerMs
  let waitMs = firstLookMs
  while (!linger.isOver()) {
    if (await isEmpty(tree, clock)) return true
    if (clock.monotonicMs() >= deadline || linger.hurry.aborted) return false
    await sleep(clock, waitMs, linger.hurry)
    waitMs = Math.min(waitMs * 2, longestLookMs)
  }
  return false
}

/** Where the service itself was held up, one look sees no progress; several in a row do. */
const looksAtSilence = 4
const shortestPatienceMs = 200
/** More than pipes hold: whoever writes so much after the end is none of ours. */
const mostLeftBytes = 4_194_304

/**
 * What is in the pipes when the tree is empty belongs to the record, however long reading it takes.
 * Pipes end when their last holder is gone; one who holds them outside the tree may never go: it
 * is given up on after a while without a byte.
 */
export async function readToTheEnd(
  recorder: Pick<Recorder, "done" | "isHeldUp" | "takenBytes" | "release" | "cancel">,
  patienceMs: number,
  clock: Clock,
  hurry: AbortSignal,
): Promise<void> {
  const atStart = recorder.takenBytes
  let last = atStart
  let looks = 0
  const look = () => {
    const taken = recorder.takenBytes
    looks = taken === last && !recorder.isHeldUp ? looks + 1 : 0
    last = taken
    if (looks >= looksAtSilence || taken - atStart > mostLeftBytes) recorder.cancel()
    else next = clock.after(everyMs, look)
  }
  const everyMs = Math.max(patienceMs, shortestPatienceMs) / looksAtSilence
  recorder.release()
  let next = clock.after(everyMs, look)
  using stack = new DisposableStack()
  stack.defer(() => next[Symbol.dispose]())
  // In a hurry one short look has to do: what is in the pipes is read, nobody is waited for.
  const hurried = () => {
    next[Symbol.dispose]()
    next = clock.after(shortestPatienceMs, () => recorder.cancel())
  }
  if (hurry.aborted) hurried()
  hurry.addEventListener("abort", hurried, { once: true })
  stack.defer(() => hurry.removeEventListener("abort", hurried))
  await recorder.done
}
