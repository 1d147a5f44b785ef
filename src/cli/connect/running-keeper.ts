import { readFileSync } from "node:fs"
import { z } from "zod"
import { isErrno } from "../../lib/errno.ts"
import { isAlive, readStat } from "../../service/os/proc.ts"
import { CommandFailure } from "../failure.ts"

const Keeper = z.object({
  pid: z.int().positive(),
  startTicks: z.int(),
  version: z.string(),
  startedAt: z.string(),
  upgrades: z.boolean().default(false).describe("whether it can hand over to another program"),
})
export type RunningKeeper = z.infer<typeof Keeper>

/**
 * The process that holds a state directory, by what it wrote into its lock; null when there is
 * none. To try the lock itself would be to hold it for a moment, and a service that starts just
 * then would take itself for the second one.
 */
export function runningKeeper(lockPath: string): RunningKeeper | null {
  const keeper = Keeper.safeParse(readJson(lockPath))
  if (!keeper.success) return null
  const stat = readStat(keeper.data.pid)
  return isAlive(stat) && stat.startTicks === keeper.data.startTicks ? keeper.data : null
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch (error) {
    // Empty after an orderly end, half written for an instant after a start.
    if (error instanceof SyntaxError || isErrno(error, "ENOENT", "ENOTDIR")) return undefined
    if (isErrno(error, "EACCES")) {
      throw new CommandFailure(
        `${path} cannot be read: the state directory belongs to another user. ` +
          "Run this as that user, or choose another directory with --state-dir.",
      )
    }
    throw error
  }
}

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
