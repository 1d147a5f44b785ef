import type { Config } from "../../../config/config.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Handover } from "../../../protocol/handover.ts"
import { whyCannotListen } from "../../gateway/listen/why-cannot-listen.ts"
import { endLeftovers } from "../../os/trees/sweep.ts"
import { JournalFullError } from "../../storage/journal/journal-failure.ts"
import { endNotes, interruptedNotes } from "../audit/audit-notes.ts"
import { recover } from "../housekeeping/recovery.ts"
import { prepareAccess, whyAccessCannotBePrepared } from "./network-access.ts"
import { openStorage, type ServiceStorage, whyStorageCannotReopen } from "./open-storage.ts"
import type { ServeOptions } from "./options.ts"
import { openProcessControl, type ProcessControl } from "./process-control.ts"
import { listenSettings } from "./settings.ts"
import { systemClock as clock } from "./system-clock.ts"

/** A service that is ready to run executions, but does not run any yet. */
type Opened = {
  record: ServiceStorage
  machine: ProcessControl
  /** What an earlier service left without an end. */
  lost: ExecutionRecord[]
  /** Null when no program had this process before. */
  handover: Handover | null
}

/** Opens all of it, for the owner of the stack to close; or says why the service cannot start. */
export async function openService(
  config: Config,
  options: ServeOptions,
  owner: AsyncDisposableStack,
): Promise<Result<Opened, string>> {
  const { logger: log, receivedHandover } = options
  const read = receivedHandover?.read() ?? ok(null)
  if (!read.ok) return read
  const handover = read.value
  const record = openStorage(config, options, clock, owner, handover)
  if (!record.ok) return record
  const machine = openProcessControl(config, record.value, owner, handover?.containment ?? null)
  if (!machine.ok) return machine
  const problem = await prepareAccess(config, record.value.state, options)
  if (problem !== null) return fail(problem)
  if (receivedHandover?.hasOtherSettings(options.args) === true) {
    // While the program before this one can still go on as it was.
    const why = await whyCannotListen(listenSettings(config, handover?.port ?? null))
    if (why !== null) return fail(why)
  }
  // Whoever hands over is no crash, and leaves nothing that would have to be ended.
  const lost = handover === null ? await recoverLost(record.value, machine.value, log) : []
  if (lost === null) {
    return fail(`The disk of ${record.value.state.path} is full: free some space first.`)
  }
  return ok({ record: record.value, machine: machine.value, lost, handover })
}

/** Why a service that runs could not begin anew as it is; null when it could. */
export function whyServiceCannotReopen(
  config: Config,
  options: ServeOptions,
  record: ServiceStorage,
): string | null {
  return (
    whyStorageCannotReopen(config, options, record) ??
    whyAccessCannotBePrepared(config, record.state)
  )
}

/** Ends what an earlier service left, and records it; null when the disk is full. */
async function recoverLost(
  { state, journal, transcripts, signer, redaction, audit }: ServiceStorage,
  { containment }: ProcessControl,
  log: Log,
): Promise<ExecutionRecord[] | null> {
  const sweep = (left: readonly ExecutionRecord[]) =>
    endLeftovers(state.path, containment.cgroupBase, left)
  const lost = await recover({ journal, transcripts, signer, clock, redaction, sweep }).catch(
    unlessFull,
  )
  for (const record of lost ?? []) {
    log.warn({ executionId: record.id, state: record.state }, "execution lost")
    for (const note of [...endNotes(record), ...interruptedNotes(record)]) audit.note(note)
  }
  return lost
}

function unlessFull(error: unknown): null {
  if (error instanceof JournalFullError) return null
  throw error
}
