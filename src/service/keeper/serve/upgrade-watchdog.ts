import { messageOf } from "../../../lib/errno.ts"
import { harmless } from "../../../lib/harmless-text.ts"
import { watchingWord } from "../../os/spawn-watchdog.ts"
import { watchNextProgram } from "../../os/tracing/watched-program.ts"
import { nextProgramIn } from "./receive-handover.ts"

/**
 * Watches the service that has started this while it becomes another program. If it cannot, its
 * first line says why.
 */
export async function runUpgradeWatchdog(args: readonly string[]): Promise<number> {
  const [pid = 0, limitMs = 0] = args.map(Number)
  await Bun.stdin.bytes() // ends when the service is ready to be watched, and also with it
  if (process.ppid !== pid) return 1
  let isWatching = false
  try {
    watchNextProgram({
      pid,
      limitMs,
      begun: nextProgramIn,
      watching() {
        isWatching = true
        console.log(watchingWord)
      },
    })
    return 0
  } catch (error) {
    const why = harmless(messageOf(error))
    if (isWatching) console.error(`cc-executor: the upgrade's watchdog failed: ${why}`)
    else console.log(why)
    return 1
  }
}
