import { randomBytes } from "node:crypto"
import type { Config } from "../../../config/config.ts"
import { executionIdFrom } from "../../../execution/id.ts"
import type { NotifySettings } from "../../../execution/notify-target.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Handover } from "../../../protocol/handover.ts"
import { auditProblem } from "../../audit/audit-files.ts"
import { type AuditLog, openAuditLog } from "../../audit/audit-log.ts"
import { tryLock } from "../../os/libc.ts"
import { readStat } from "../../os/proc.ts"
import { createAttestationSigner } from "../../storage/journal/attestation-signing.ts"
import { type OpenJournal, openJournal } from "../../storage/journal/journal.ts"
import { openJournalReader } from "../../storage/journal/journal-reader.ts"
import { createReceiptSigner } from "../../storage/journal/receipt-signing.ts"
import { loadOrCreateSigningKey } from "../../storage/journal/signing-key.ts"
import {
  entryProblem,
  openStateDirectory,
  type StateDirectory,
} from "../../storage/state-directory.ts"
import { stateProblem } from "../../storage/state-schema.ts"
import { createTranscriptStore } from "../../storage/transcript/store.ts"
import { Notices } from "../notifications/notices.ts"
import type { Clock, ReceiptSigner, Redaction, TranscriptStore } from "../ports.ts"
import type { AttestationSigner } from "../trial-store.ts"
import type { ServeOptions } from "./options.ts"
import { type PolicyWatch, policyProblem, watchPolicy } from "./policy-watch.ts"
import { auditSettings, notifySettingsOf, redactionOf } from "./settings.ts"

/** Why a service that runs could not begin anew with its record; null when it could. */
export function whyStorageCannotReopen(
  config: Config,
  options: ServeOptions,
  { redaction, state }: Pick<ServiceStorage, "redaction" | "state">,
): string | null {
  const patterns = redactionOf(config)
  if (!patterns.ok) return patterns.failure
  const targets = notifySettingsOf(config)
  if (!targets.ok) return targets.failure
  const isSame = patterns.value?.fingerprint === redaction?.fingerprint
  if (!isSame) return otherPatterns
  return policyProblem(config, options) ?? recordProblem(state, options.version)
}

/** By then nobody could go back: what others have put there is found before. */
function recordProblem({ path, paths }: StateDirectory, version: string): string | null {
  const problem = entryProblem(paths) ?? stateProblem(path, version) ?? auditProblem(paths.audit)
  if (problem !== null) return problem
  const key = loadOrCreateSigningKey(path)
  if (!key.ok) return key.failure.message
  const journal = openJournalReader(paths.journal)
  if (!journal.ok) return journal.failure.message
  journal.value[Symbol.dispose]()
  return null
}

/** What is half known of a secret in an output is known by these patterns only. */
const otherPatterns =
  "The patterns in --redact-file have changed since the service started: restore the old ones " +
  "for the upgrade, or stop the service and start it again."

/** What a service writes down, and by which rules. */
export type ServiceStorage = {
  startedAt: string
  state: StateDirectory
  policy: PolicyWatch
  redaction: Redaction | null
  notify: NotifySettings | null
  notices: Notices
  journal: OpenJournal
  audit: AuditLog
  signer: ReceiptSigner
  attestations: AttestationSigner
  transcripts: TranscriptStore
}

/** Opens all of it, for the owner of the stack to close; or says why the service cannot start. */
export function openStorage(
  config: Config,
  options: ServeOptions,
  clock: Clock,
  owner: AsyncDisposableStack,
  handed: Pick<Handover, "lockFd" | "startedAt" | "redaction"> | null,
): Result<ServiceStorage, string> {
  // Before anything is opened: a service without its patterns would record what it must not.
  const redaction = redactionOf(config)
  if (!redaction.ok) return redaction
  const patterns = redaction.value?.fingerprint ?? null
  if (handed !== null && handed.redaction !== patterns) return fail(otherPatterns)
  const notify = notifySettingsOf(config)
  if (!notify.ok) return notify
  const notices = new Notices(notify.value?.targets ?? [], () => executionIdFrom(randomBytes(16)))
  const holder = {
    pid: process.pid,
    startTicks: readStat(process.pid)?.startTicks ?? 0,
    version: options.version,
    startedBy: options.startedBy,
    startedAt: handed?.startedAt ?? clock.now().toISOString(),
  }
  const lockFd = handed?.lockFd ?? null
  const state = openStateDirectory(config.stateDir, holder, config.ballastBytes, tryLock, lockFd)
  if (!state.ok) return state
  owner.use(state.value)
  const policy = watchPolicy(config, options)
  if (!policy.ok) return policy
  owner.use(policy.value)
  // Until this program has taken over, the one before it must be able to read the journal.
  const migration = handed === null ? "at once" : "when told"
  const journal = openJournal(state.value.paths.journal, clock, migration, notices)
  if (!journal.ok) return fail(journal.failure.message)
  owner.use(journal.value)
  const audit = openAuditLog(auditSettings(config, state.value), clock, options.logger)
  if (!audit.ok) return audit
  owner.use(audit.value)
  const key = loadOrCreateSigningKey(state.value.path)
  if (!key.ok) return fail(key.failure.message)
  return ok({
    startedAt: holder.startedAt,
    state: state.value,
    policy: policy.value,
    redaction: redaction.value,
    notify: notify.value,
    notices,
    journal: journal.value,
    audit: audit.value,
    signer: createReceiptSigner(key.value, process.getuid?.() ?? 0),
    attestations: createAttestationSigner(key.value),
    transcripts: createTranscriptStore(state.value.paths.transcripts),
  })
}
