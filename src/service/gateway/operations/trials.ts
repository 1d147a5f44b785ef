import type { TrialId } from "../../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { PeerProcess } from "../../../protocol/ipc.ts"
import type { TrialEntry, TrialListParams, TrialStatus } from "../../../protocol/trial.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, permit, scopeOf } from "../../access/permission.ts"
import type { JournalReader } from "../ports.ts"
import type { TrialOperations } from "../trial-ports.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { originOf } from "./owned.ts"

/** Bytes of envelopes in one page; one is told however large it is. */
const pageBytes = 2 * 1024 * 1024

type Ports = { link: () => KeeperLink; journal: () => JournalReader }

/** What clients may ask about trials. */
export function trialOperations({ link, journal }: Ports): TrialOperations {
  return {
    async begin(caller, request) {
      const permitted = permit(caller, scopeOf["trial.begin"])
      if (!permitted.ok) return permitted
      const peer = await peerOf(caller, journal())
      return link().call("beginTrial", { origin: originOf(caller), peer, request })
    },

    async renew(caller, { trial }) {
      const permitted = permit(caller, scopeOf["trial.renew"])
      if (!permitted.ok) return permitted
      return link().call("renewTrial", await ofTrial(caller, trial))
    },

    async end(caller, { trial }) {
      const permitted = permit(caller, scopeOf["trial.end"])
      if (!permitted.ok) return permitted
      return link().call("endTrial", await ofTrial(caller, trial))
    },

    async status(caller, { trial: id }) {
      const permitted = permit(caller, scopeOf["trial.status"])
      if (!permitted.ok) return permitted
      const found = journal().trial(id)
      const isTheirs = found !== null && mayKnow(caller, found.announcement.principal)
      return isTheirs ? ok(statusOf(found)) : unknownTrial(id)
    },

    async list(caller, params) {
      const permitted = permit(caller, scopeOf["trial.list"])
      if (!permitted.ok) return permitted
      return ok(pageOf(params, isAdmin(caller) ? null : caller.principal, journal()))
    },
  }

  async function ofTrial(caller: Caller, trial: TrialId) {
    const peer = await peerOf(caller, journal())
    return { origin: originOf(caller), isAdmin: isAdmin(caller), peer, trial }
  }
}

/** Where a caller is: asked of the machine only while there is a trial that it could be part of. */
export function peerOf(
  caller: Caller,
  journal: Pick<JournalReader, "hasOpenTrials">,
): PeerProcess | Promise<PeerProcess> {
  if (!journal.hasOpenTrials()) return { kind: "elsewhere" }
  return caller.peer?.() ?? { kind: "unknown" }
}

function mayKnow(caller: Caller, principal: string): boolean {
  return isAdmin(caller) || caller.principal === principal
}

function unknownTrial(id: TrialId): Result<never, Failure> {
  return fail(failure("TRIAL_NOT_FOUND", `Unknown trial: ${id}.`))
}

function entryOf({ announcement, chain, digest, ended }: RecordedTrial): TrialEntry {
  const { trial } = announcement
  const { verdict = null, envelope = null } = ended ?? {}
  return { trial, chain, digest, announcement, verdict, envelope }
}

function statusOf(trial: RecordedTrial & { steps: StepStates }): TrialStatus {
  const { steps } = trial.announcement.definition
  return {
    ...entryOf(trial),
    steps: steps.map(({ id, role }) => {
      const { executionId = null, hasEnded = false } = trial.steps.get(id) ?? {}
      const state = executionId === null ? "waiting" : hasEnded ? "ended" : "running"
      return { id, role, execution_id: executionId, state }
    }),
  }
}

type StepStates = NonNullable<ReturnType<JournalReader["trial"]>>["steps"]

function pageOf(params: TrialListParams, principal: string | null, journal: JournalReader) {
  const { from, limit } = params
  const chain = journal.trialChain(params, principal)
  if (chain === null) return { trials: [], head: null }
  const trials: TrialEntry[] = []
  let bytes = 0
  for (const found of journal.trials(chain, from, limit + 1)) {
    const entry = entryOf(found)
    const size = JSON.stringify(entry).length
    const isFull = trials.length === limit || (bytes + size > pageBytes && trials.length > 0)
    const { head } = chain
    if (isFull) return { trials, head, next: entry.announcement.sequence }
    bytes += size
    trials.push(entry)
  }
  return { trials, head: chain.head }
}
