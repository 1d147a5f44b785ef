import { existsSync } from "node:fs"
import type { Digest } from "../../../execution/trial/announcement.ts"
import type { TrialOutline } from "../../../execution/trial/attestation.ts"
import { faultText } from "../../documents/fault.ts"
import type { CheckedLine } from "../../ledger/checked-lines.ts"
import { additionTo, mergeLedger } from "../../ledger/ledger-text.ts"
import { type LedgerSummary, summarize } from "../../ledger/summary.ts"
import { type VerifiedLedger, verifyLines } from "../../ledger/verify-ledger.ts"
import { render } from "../../render/render.ts"
import { WorkFailure } from "../work-failure.ts"
import type { World } from "../world.ts"
import { askJournal, type ChainOf, type FromJournal } from "./journal.ts"
import { LedgerFile } from "./ledger-file.ts"
import { type ReadWork, readWorkFile } from "./read-work.ts"
import { lockWork } from "./work-lock.ts"
import { replaceText } from "./write-text.ts"

/** A work, its ledger, and what both are worth. */
export type WorkState = ReadWork & {
  readonly ledger: LedgerFile
  readonly verified: VerifiedLedger
  readonly summary: LedgerSummary
  readonly chain: Digest | null
}

/** As it stands: what is missing is not restored, but said. */
export async function lookAt(world: World, given: string): Promise<WorkState> {
  const read = readWorkFile(given)
  const ledger = new LedgerFile(read.ledgerPath, { publicKeys: world.publicKeys() })
  const lines = await wholeLines(read, ledger)
  return judged(read, ledger, lines, await askAbout(world, read, lines))
}

/** Who writes has the lock: with it, what others have begun to write is there. */
async function wholeLines({ path }: ReadWork, ledger: LedgerFile): Promise<readonly CheckedLine[]> {
  const lines = ledger.lines()
  return ledger.isWhole ? lines : lockWork(path, async () => ledger.lines())
}

/**
 * Restores the ledger from the journal, and writes what it shows into the file. After a crash, this
 * is all that is to be done. `before` is an earlier state: what was read for it is not read again.
 */
export async function bringUpToDate(
  world: World,
  given: string,
  before: WorkState | null = null,
): Promise<WorkState> {
  const { path } = readWorkFile(given)
  return lockWork(path, async () => {
    const read = readWorkFile(path)
    // What the service has signed is written as it is; `verify` asks whether it follows.
    const reading = { publicKeys: world.publicKeys(), signaturesOnly: true }
    const ledger =
      before?.ledger.path === read.ledgerPath
        ? before.ledger
        : new LedgerFile(read.ledgerPath, reading)
    return writeRendered(await restored(world, read, ledger))
  })
}

async function restored(world: World, read: ReadWork, ledger: LedgerFile): Promise<WorkState> {
  const lines = ledger.lines()
  const asked = await askAbout(world, read, lines)
  const isSound = ledger.isWhole && lines.every(({ checked }) => checked.ok)
  const addition = isSound ? additionTo(asked.trials, asked.missing) : null
  if (addition !== null) {
    if (addition !== "") ledger.append(addition)
    const state = judged(read, ledger, ledger.lines(), asked)
    if (state.verified.damages.length === 0) return state
  }
  // What was changed stands there in the place of what the journal has: all of that is needed.
  const whole = await askJournal(world.client, asked.of, new Set())
  const text = ledger.text()
  const merged = mergeLedger(text, whole.missing)
  if (merged !== text) ledger.replace(merged)
  return judged(read, ledger, ledger.lines(), { ...asked, ...whole })
}

/** The file may be edited by people meanwhile: then what they wrote is read first. */
function writeRendered(state: WorkState): WorkState {
  for (let read: ReadWork = state; ; read = readWorkFile(state.path)) {
    const text = renderedText(read, state.summary)
    if (text === read.text) return { ...state, ...read }
    const bytes = Buffer.from(text)
    if (replaceText(read.path, read.bytes, bytes)) return { ...state, ...readWorkFile(read.path) }
  }
}

function renderedText({ path, text }: ReadWork, summary: LedgerSummary): string {
  const rendered = render(text, summary)
  if (rendered.ok) return rendered.value
  throw new WorkFailure(`${path}, ${faultText(rendered.failure)}.`)
}

type Asked = FromJournal & {
  of: ChainOf
  /** Those that the ledger has, by number. */
  trials: readonly TrialOutline[]
}

async function askAbout(
  world: World,
  read: ReadWork,
  lines: readonly CheckedLine[],
): Promise<Asked> {
  const { path, name, work } = read
  const context = { name, kind: work.kind, paths: null, journal: null }
  const trials = verifyLines(lines, context).trials.map(({ trial }) => trial)
  const chain = trials[0]?.chain
  const of = chain === undefined ? { path, name, kind: work.kind } : { chain }
  const has = new Set(trials.map(({ announcement }) => announcement.sequence))
  return { ...(await askJournal(world.client, of, has)), of, trials }
}

function judged(
  read: ReadWork,
  ledger: LedgerFile,
  lines: readonly CheckedLine[],
  { view, chain, trials }: Asked,
): WorkState {
  const { path, name, work } = read
  // A ledger that was carried here from another machine is not in this journal.
  const journal = view.head === null && lines.length > 0 ? null : view
  // Where the file of a trial is still there, this one is a copy of it, and not where it has moved.
  const announcedAt = new Set(trials.map(({ announcement }) => announcement.work.path))
  const moved = [...announcedAt].filter((other) => other !== path && !existsSync(other))
  const paths = new Set([path, ...moved])
  const verified = verifyLines(lines, { name, kind: work.kind, paths, journal })
  return { ...read, ledger, verified, summary: summarize(verified), chain }
}
