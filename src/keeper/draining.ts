import { elapse } from "./elapse.ts"
import type { Clock, ProcessTree } from "./ports.ts"
import type { Recorder } from "./recorder.ts"

const firstLookMs = 1
const longestLookMs = 50

/** Waits for a tree whose leader is gone to empty itself; false when it has not. */
export async function lingerUntilEmpty(
  tree: ProcessTree,
  clock: Clock,
  linger: { lingerMs: number; isOver: () => boolean; hurry: AbortSignal },
): Promise<boolean> {
  const deadline = clock.monotonicMs() + linger.lingerMs
  let waitMs = firstLookMs
  while (!linger.isOver()) {
    if (tree.members().length === 0) return true
    if (clock.monotonicMs() >= deadline || linger.hurry.aborted) return false
    await elapse(clock, waitMs, linger.hurry)
    waitMs = Math.min(waitMs * 2, longestLookMs)
  }
  return false
}

/** Pipes end when their last holder is gone; one who holds them outside the tree may never go. */
export async function readToTheEnd(
  recorder: Recorder,
  patienceMs: number,
  clock: Clock,
): Promise<void> {
  recorder.release()
  using _patience = clock.after(patienceMs, () => recorder.cancel())
  await recorder.done
}
