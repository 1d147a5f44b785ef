import type { Digest } from "../../execution/trial/announcement.ts"
import type { TrialOutline } from "../../execution/trial/attestation.ts"
import type { Damage } from "./damage.ts"

type Line = { line: number; trial: TrialOutline }
type Journal = {
  head: { sequence: number; digest: Digest } | null
  open: readonly { sequence: number }[]
}

/** What is wrong between lines each of which is sound; `unread` more lines could not be read. */
export function chainDamages(
  lines: readonly Line[],
  unread: number,
  journal: Journal | null,
): Damage[] {
  const chain = lines[0]?.trial.chain
  const placed = placedOnce(lines.filter(({ trial }) => trial.chain === chain))
  return [
    ...strangers(lines.filter(({ trial }) => trial.chain !== chain)),
    ...placed.damages,
    ...brokenLinks(placed.lines),
    ...missing(placed.lines, unread, journal),
    ...atTheEnd(placed.lines, unread, journal),
  ]
}

function strangers(lines: readonly Line[]): Damage[] {
  const reason = "it is of another chain than the first one: it was copied here"
  return lines.map(({ line }) => ({ line, kind: "chain", reason }))
}

/** In the order of their numbers, each once. */
function placedOnce(lines: readonly Line[]): { lines: Line[]; damages: Damage[] } {
  const byNumber = new Map<number, Line>()
  const damages: Damage[] = []
  let highest = 0
  for (const one of lines) {
    const number = one.trial.announcement.sequence
    const earlier = byNumber.get(number)
    if (earlier !== undefined) {
      const reason = `trial ${number} stands in line ${earlier.line} already`
      damages.push({ line: one.line, kind: "duplicate", reason })
      continue
    }
    byNumber.set(number, one)
    if (number < highest) {
      const reason = `trial ${number} stands after trial ${highest}`
      damages.push({ line: one.line, kind: "order", reason })
    }
    highest = Math.max(highest, number)
  }
  const sorted = [...byNumber].toSorted(([one], [other]) => one - other)
  return { lines: sorted.map(([, one]) => one), damages }
}

function brokenLinks(lines: readonly Line[]): Damage[] {
  return lines.flatMap(({ line, trial }, index): Damage[] => {
    const { sequence, previous } = trial.announcement
    const before = lines[index - 1]?.trial
    if (before === undefined || before.announcement.sequence !== sequence - 1) return []
    if (before.announcement_digest === previous) return []
    const reason = `trial ${sequence} follows another trial ${sequence - 1} than the one here`
    return [{ line, kind: "chain", reason }]
  })
}

/** Each line that cannot be read stands for one number that is not there. */
function missing(lines: readonly Line[], unread: number, journal: Journal | null): Damage[] {
  const numbers = numbersOf(lines)
  const last = Math.max(0, ...numbers)
  const absent = absentUpTo(last, numbers, journal)
  if (absent.length <= unread) return []
  const why = journal === null ? "deleted, or still under way where this was written" : "deleted"
  return [{ line: null, kind: "missing", reason: `${trialsText(absent)} missing: ${why}` }]
}

function atTheEnd(lines: readonly Line[], unread: number, journal: Journal | null): Damage[] {
  const head = journal?.head ?? null
  if (head === null) return []
  const last = lines.at(-1)
  const numbers = numbersOf(lines)
  const end = last?.trial.announcement.sequence ?? 0
  const absent = absentUpTo(head.sequence, numbers, journal).filter((number) => number > end)
  if (absent.length > unread) {
    const reason = `the end is cut off: ${trialsText(absent)} in the journal, but not here`
    return [{ line: null, kind: "cut-off", reason }]
  }
  if (last === undefined || end !== head.sequence) return []
  if (last.trial.announcement_digest === head.digest) return []
  const reason = `trial ${end} is another one in the journal`
  return [{ line: last.line, kind: "chain", reason }]
}

function numbersOf(lines: readonly Line[]): Set<number> {
  return new Set(lines.map(({ trial }) => trial.announcement.sequence))
}

function absentUpTo(last: number, present: ReadonlySet<number>, journal: Journal | null): number[] {
  const open = new Set(journal?.open.map(({ sequence }) => sequence))
  const all = Array.from({ length: last }, (_, index) => index + 1)
  return all.filter((number) => !present.has(number) && !open.has(number))
}

/** `trial 4 is`, `trials 2, 4–6 are` */
function trialsText(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const current = ranges.at(-1)
    if (current !== undefined && current[1] === number - 1) current[1] = number
    else ranges.push([number, number])
  }
  const texts = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
  return numbers.length === 1 ? `trial ${texts.join()} is` : `trials ${texts.join(", ")} are`
}
