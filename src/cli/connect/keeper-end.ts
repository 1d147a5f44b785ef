import { type RunningKeeper, runningKeeper } from "./running-keeper.ts"

const pollMs = 20

/** Waits until a keeper has ended; false when it has not by then. */
export async function keeperEnd(
  lockPath: string,
  keeper: RunningKeeper,
  limitMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs
  for (;;) {
    const now = runningKeeper(lockPath)
    const isOver = now === null || now.pid !== keeper.pid || now.startTicks !== keeper.startTicks
    if (isOver) return true
    if (performance.now() > deadlineMs) return false
    await Bun.sleep(pollMs)
  }
}
