import type { HandedExecution } from "../../../execution/handover.ts"
import type { Handover } from "../../../protocol/handover.ts"
import type { Listening } from "../../../protocol/upgrade.ts"
import { UpgradeFiles } from "../../storage/upgrade-files.ts"
import type { Keeper } from "../keeper.ts"
import type { ServiceStorage } from "./open-storage.ts"
import type { ServeOptions } from "./options.ts"
import type { ProcessControl } from "./process-control.ts"
import type { ReceivedHandover } from "./receive-handover.ts"
import { machineUptimeMs } from "./upgrade.ts"

/** The executions that were taken over from the previous program of this process. */
export type ContinuedExecutions = {
  executions: number
  queued: number
  /** Resolves when all of them are read again, with how long that took since they were not. */
  heldMs: Promise<number>
}

/** The point of no return: from here on this program runs what the previous one started. */
export function continueExecutions(
  handover: Handover,
  keeper: Keeper,
  { journal }: Pick<ServiceStorage, "journal">,
  { reaper }: Pick<ProcessControl, "reaper">,
  { receivedHandover }: Pick<ServeOptions, "receivedHandover">,
): ContinuedExecutions {
  // Not before: the previous program could not read it, and until now it may have to.
  receivedHandover?.accept(() => journal.keepMigration())
  reaper.begin()
  const sinceMs = () => Math.max(0, machineUptimeMs() - handover.uptimeMs)
  const heldMs = sinceMs()
  keeper.continueAdopted(
    // What was written is gone through one by one: who wrote little need not wait for the others.
    handover.executions
      .map((handed) => withTime(handed, heldMs))
      .toSorted((one, other) => bytesOf(one) - bytesOf(other)),
  )
  if (handover.endSignal !== null) process.kill(process.pid, handover.endSignal)
  const { length: executions } = handover.executions
  const { length: queued } = handover.queued
  return { executions, queued, heldMs: keeper.live.allRead().then(sinceMs) }
}

/** Tells whoever asked for the upgrade, and the log, how it went. */
export async function reportUpgrade(
  { upgrade, version: from }: Handover,
  continued: ContinuedExecutions,
  options: ServeOptions,
  stateDir: string,
  told: { listening: Listening; said: string[] },
): Promise<void> {
  const { receivedHandover, logger: log, version: to } = options
  const why = receivedHandover?.failure ?? null
  const files = new UpgradeFiles(stateDir)
  const facts = { ...continued, heldMs: await continued.heldMs }
  if (why === null) {
    log.info({ from, ...facts }, "service upgraded")
    files.report({ upgrade, phase: "done", from, to, pid: process.pid, ...facts, ...told })
  } else {
    log.error({ why, ...facts }, "upgrade failed: the old program continues")
    const text = `The new program did not take over: ${why}`
    files.report({ upgrade, phase: "refused", why: text, tookBack: why })
  }
}

/** For the audit trail; nothing where the service was started by somebody. */
export function handedOverBy(handover: Handover | null, receivedHandover: ReceivedHandover | null) {
  if (handover === null) return {}
  const handed_over = handover.executions.length
  const failure = receivedHandover?.failure ?? null
  return failure === null
    ? { upgraded_from: handover.version, handed_over }
    : { upgrade_failed: failure, handed_over }
}

function bytesOf({ record }: HandedExecution): number {
  return record.transcript.end.sequence
}

/** Clocks that ran when they were handed over have not stood still since. */
function withTime(handed: HandedExecution, heldMs: number): HandedExecution {
  const { clocks } = handed
  const { kind } = handed.record.state
  if (kind === "draining") return handed
  if (kind === "paused") {
    return { ...handed, clocks: { ...clocks, pausedMs: clocks.pausedMs + heldMs } }
  }
  const { runningMs, pausedMs, wallMs, idleMs } = clocks
  return {
    ...handed,
    clocks: {
      runningMs: runningMs + heldMs,
      pausedMs,
      wallMs: wallMs + heldMs,
      // Nobody read meanwhile: whether it was idle cannot be known, and is decided in its favour.
      idleMs,
    },
  }
}
