import { countsAs } from "../../execution/trial/announcement.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { xmlText } from "../../lib/report/xml-text.ts"
import type { TaskList } from "../documents/task-list.ts"
import type { Work } from "../documents/work-kind.ts"
import { type Counts, countsOf } from "../ledger/counts.ts"
import { judgeGraduation } from "../ledger/graduation.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { taskState } from "../ledger/task-state.ts"
import { wilsonInterval } from "../ledger/wilson.ts"

/** What a badge is made of: the ledger, and nothing that stands in the file beside it. */
export type BadgeOf = {
  name: string
  work: Work
  summary: LedgerSummary
  head: { sequence: number; digest: string } | null // the last trial of the ledger
}

/** Counts and evolution of a work as an SVG that needs nothing from elsewhere. */
export function badge(of: BadgeOf): string {
  const { tone, text } = shownOf(of)
  const columns = columnsOf(of)
  const name = cut(of.name)
  const left = widthOf(name)
  const middle = widthOf(text)
  const right = columns.length === 0 ? 0 : columns.length * columnWidth + 8
  const width = left + middle + right
  const title = `${name}: ${text}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" font-family="Verdana,DejaVu Sans,sans-serif" ` +
      `font-size="11">`,
    `<title>${xmlText(title)}</title>`,
    `<desc>${xmlText(descriptionOf(of))}</desc>`,
    `<rect width="${width}" height="${height}" rx="3" fill="#444c56"/>`,
    `<rect x="${left}" width="${middle}" height="${height}" fill="${colours[tone]}"/>`,
    words(left / 2, name),
    words(left + middle / 2, text),
    ...columns.map((column, index) => columnText(column, left + middle + 4 + index * columnWidth)),
    "</svg>",
    "",
  ].join("\n")
}

type Tone = "proven" | "open" | "failing" | "unknown"

const colours: Record<Tone, string> = {
  proven: "#1a7f37",
  open: "#9a6700",
  failing: "#cf222e",
  unknown: "#6e7781",
}

const height = 20
const columnWidth = 8
const mostColumns = 16
const mostCharacters = 40

function shownOf({ work, summary }: BadgeOf): { tone: Tone; text: string } {
  if (summary.damages.length > 0) return { tone: "failing", text: "ledger damaged" }
  if (work.kind === "tasks") return tasksShown(work, summary)
  const { success, failure } = summary.life
  if (success + failure === 0) return { tone: "unknown", text: "nothing proven" }
  const low = Math.floor(wilsonInterval(success, failure).low * 100)
  const text = `${success}:${failure} · ≥ ${low} %`
  if (isGraduating(work, summary)) return { tone: "proven", text }
  return { tone: success > failure ? "open" : "failing", text }
}

function isGraduating(work: Work, summary: LedgerSummary): boolean {
  return work.kind === "prompt" && judgeGraduation(work, summary).graduates
}

/** Accepted ones are a person's word, which stands in the file and not in the ledger. */
function tasksShown({ tasks }: TaskList, summary: LedgerSummary): { tone: Tone; text: string } {
  const kinds = tasks.map((task) => taskState(task, summary).kind)
  const verified = kinds.filter((kind) => kind === "verified").length
  const text = `${verified} of ${tasks.length} verified`
  if (verified === tasks.length && verified > 0) return { tone: "proven", text }
  if (kinds.includes("failed")) return { tone: "failing", text }
  return { tone: verified > 0 ? "open" : "unknown", text }
}

/** One version of a prompt, or one trial of anything else. */
type Column = { counts: Counts; title: string }

function columnsOf({ work, summary }: BadgeOf): Column[] {
  const { versions, trials } = summary
  const all =
    work.kind === "prompt"
      ? versions.map(({ counts }, index) => {
          return { counts, title: `v${index + 1}: ${counts.success}:${counts.failure}` }
        })
      : trials.map(({ verdict, announcement }) => {
          const { sequence } = announcement
          return { counts: countsOf([verdict]), title: `trial ${sequence}: ${verdict}` }
        })
  return all.slice(-mostColumns)
}

const mostHeight = 14

/** As high as the share of successes; what was never counted is a line. */
function columnText({ counts: { success, failure }, title }: Column, x: number): string {
  const counted = success + failure
  const share = counted === 0 ? 0 : success / counted
  const size = Math.max(1, Math.round(share * mostHeight))
  const failed = counted === 0 ? 0 : mostHeight - size
  const y = height - 3 - size
  const fill = counted === 0 ? "#8c959f" : "#4ac26b"
  const bar = (top: number, length: number, colour: string) =>
    `<rect x="${x}" y="${top}" width="${columnWidth - 2}" height="${length}" fill="${colour}"/>`
  const rest = failed === 0 ? "" : bar(y - failed, failed, "#f47067")
  return `<g><title>${xmlText(title)}</title>${rest}${bar(y, size, fill)}</g>`
}

function descriptionOf({ summary, head }: BadgeOf): string {
  const { damages, life, trials, versions, lastAt } = summary
  if (damages.length > 0) return "The ledger is damaged: nothing of it counts."
  if (head === null) return "No trial is in the ledger."
  const counted = trials.filter(({ verdict }) => countsAs(verdict) !== null).length
  return [
    `${life.success} successes and ${life.failure} failures in ${counted} trials that count`,
    `of ${trials.length}, ${versions.length} versions, the last trial ${lastAt ?? "unknown"}.`,
    `Ledger up to trial ${head.sequence}, ${head.digest}.`,
  ].join(" ")
}

function words(x: number, text: string): string {
  return `<text x="${x}" y="14" fill="#ffffff" text-anchor="middle">${xmlText(text)}</text>`
}

function cut(name: string): string {
  const text = onOneLine(name)
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters - 1)}…`
}

/** Of Verdana at 11 pixels, about. */
function widthOf(text: string): number {
  return Math.ceil(text.length * 6.8) + 12
}
