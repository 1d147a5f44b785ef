import type { Log } from "../../../lib/log.ts"
import type { Forest } from "../../os/trees/forest.ts"
import type { Keeper } from "../keeper.ts"

/** What fails once, for want of descriptors or space say, may work the next time. */
export function every(periodMs: number, log: Log, run: () => unknown): Disposable {
  const attempt = () => {
    try {
      run()
    } catch (error) {
      log.error({ err: error }, "housekeeping failed")
    }
  }
  const timer = setInterval(attempt, periodMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Whether the next housekeeping should not wait for its time. */
export function needsTidying({ disk, admission }: Keeper): boolean {
  return disk.needsTidying() || (disk.endedBytes > 0 && admission.inodes.missing() > 0)
}

/** Once more after the last tree is gone: nothing of it is to be remembered. */
export function surveyOf(
  forest: Forest,
  remember: () => void,
  remembered: { isOutdated: boolean },
): () => void {
  let isAnyRemembered = false
  return () => {
    if (!forest.isEmpty || isAnyRemembered || remembered.isOutdated) remember()
    isAnyRemembered = !forest.isEmpty
  }
}
