import { existsSync } from "node:fs"
import type { Digest } from "../../../execution/trial/announcement.ts"
import { faultText } from "../../documents/fault.ts"
import { mergeLedger } from "../../ledger/ledger-text.ts"
import { type LedgerSummary, summarize } from "../../ledger/summary.ts"
import { type KnownLines, type VerifiedLedger, verifyLedger } from "../../ledger/verify-ledger.ts"
import { render } from "../../render/render.ts"
import { WorkFailure } from "../work-failure.ts"
import type { World } from "../world.ts"
import { askJournal, type ChainOf, type FromJournal } from "./journal.ts"
import { type ReadWork, readLedger, readWorkFile } from "./read-work.ts"
import { lockWork } from "./work-lock.ts"
import { replaceText, writeText } from "./write-text.ts"

/** A work, its ledger, and what both are worth. */
export type WorkState = ReadWork & {
  readonly ledgerText: string
  readonly verified: VerifiedLedger
  readonly summary: LedgerSummary
  readonly chain: Digest | null
}

/** As it stands: what is missing is not restored, but said. */
export async function lookAt(
  world: World,
  given: string,
  known: KnownLines = new Map(),
): Promise<WorkState> {
  const read = readWorkFile(given)
  const ledgerText = readLedger(read.ledgerPath)
  const reading = { known, signaturesOnly: false }
  return judged(world, read, ledgerText, await askAbout(world, read, ledgerText, reading), reading)
}

/**
 * Restores the ledger from the journal, and writes what it shows into the file. After a crash, this
 * is all that is to be done.
 */
export async function bringUpToDate(
  world: World,
  given: string,
  known: KnownLines = new Map(),
): Promise<WorkState> {
  const { path } = readWorkFile(given)
  return lockWork(path, async () => {
    const read = readWorkFile(path)
    const before = readLedger(read.ledgerPath)
    // What the service has signed is written as it is; `verify` asks whether it follows.
    const state = await restored(world, read, before, { known, signaturesOnly: true })
    if (state.ledgerText !== before) writeText(read.ledgerPath, Buffer.from(state.ledgerText))
    return writeRendered(state)
  })
}

/** What was read before, and how much is asked of each line. */
type Reading = { known: KnownLines; signaturesOnly: boolean }

async function restored(
  world: World,
  read: ReadWork,
  before: string,
  reading: Reading,
): Promise<WorkState> {
  const asked = await askAbout(world, read, before, reading)
  const merged = mergeLedger(before, asked.missing, reading.known)
  const state = judged(world, read, merged, asked, reading)
  if (state.verified.damages.length === 0) return state
  // What was changed stands there in the place of what the journal has: all of that is needed.
  const whole = await askJournal(world.client, asked.of, new Set())
  const text = mergeLedger(before, whole.missing, reading.known)
  return judged(world, read, text, { ...asked, ...whole }, reading)
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
  /** Where the trials say that the file is, or was. */
  announcedAt: ReadonlySet<string>
}

async function askAbout(
  world: World,
  read: ReadWork,
  ledgerText: string,
  reading: Reading,
): Promise<Asked> {
  const context = { ...contextOf(world, read, reading), paths: null, journal: null }
  const trials = verifyLedger(ledgerText, context, reading.known).trials.map(({ trial }) => trial)
  const { path, name, work } = read
  const chain = trials[0]?.chain
  const of = chain === undefined ? { path, name, kind: work.kind } : { chain }
  const has = new Set(trials.map(({ announcement }) => announcement.sequence))
  const announcedAt = new Set(trials.map(({ announcement }) => announcement.work.path))
  return { ...(await askJournal(world.client, of, has)), of, announcedAt }
}

function judged(
  world: World,
  read: ReadWork,
  ledgerText: string,
  { view, chain, announcedAt }: Asked,
  reading: Reading,
): WorkState {
  // A ledger that was carried here from another machine is not in this journal.
  const journal = view.head === null && ledgerText !== "" ? null : view
  // Where the file of a trial is still there, this one is a copy of it, and not where it has moved.
  const moved = [...announcedAt].filter((other) => other !== read.path && !existsSync(other))
  const paths = new Set([read.path, ...moved])
  const verified = verifyLedger(
    ledgerText,
    { ...contextOf(world, read, reading), paths, journal },
    reading.known,
  )
  return { ...read, ledgerText, verified, summary: summarize(verified), chain }
}

function contextOf(world: World, { name, work: { kind } }: ReadWork, reading: Reading) {
  const { signaturesOnly } = reading
  return { name, kind, publicKeys: world.publicKeys(), signaturesOnly }
}
