import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { lineEndOf } from "../documents/lines.ts"
import type { Prompt } from "../documents/prompt.ts"
import type { FixList } from "../documents/review/fix-list.ts"
import type { TaskList } from "../documents/task-list.ts"
import { readWork } from "../documents/work-kind.ts"
import { emptySummary } from "../ledger/summary.ts"
import { applyEdits, type Edit } from "./edit.ts"
import { placeOfMetrics } from "./prompt-edits.ts"
import { beginMarker, endMarker } from "./region-edit.ts"
import { render } from "./render.ts"

/** A command that stands in the file, and that nobody has said to be a check. */
export type ProposedCheck = { item: string | null; line: number; run: string }

export type Claim = { item: string | null; line: number; words: string }

export type Adoption = {
  text: string // with regions of ours: 0:0, and what was claimed as claimed and unattested
  claims: Claim[]
  proposed: ProposedCheck[] // adopting binds and executes none of them
}

/** Makes room for what will be attested. A file that was adopted stays as it is. */
export function adopt(text: string): Result<Adoption, DocumentFault> {
  const work = readWork(text)
  if (!work.ok) return work
  const { value } = work
  if (value.kind === "fixes") {
    return ok({ text, claims: claimedResults(value), proposed: commandsOfFixes(value) })
  }
  if (value.kind === "review") return ok({ text, claims: [], proposed: [] })
  const claims = value.kind === "tasks" ? claimedTicks(value) : claimedCounts(value)
  const proposed = value.kind === "tasks" ? commandsOfTasks(value) : commandsOfPrompt(value)
  if (value.regions.length > 0) return ok({ text, claims, proposed })
  const edits = value.kind === "tasks" ? listEdits(value) : promptEdits(value)
  const rendered = render(applyEdits(text, edits), emptySummary)
  return rendered.ok ? ok({ text: rendered.value, claims, proposed }) : rendered
}

function claimedTicks({ tasks }: TaskList): Claim[] {
  return tasks
    .filter(({ isClaimed }) => isClaimed)
    .map(({ id, title, line }) => ({ item: id, line, words: title }))
}

function claimedCounts({ claimed }: Prompt): Claim[] {
  if (claimed === null) return []
  const { success, failure, firstLine } = claimed
  return [{ item: null, line: firstLine, words: `${success}:${failure}` }]
}

/** What somebody has written as a result, before anything was tried. */
function claimedResults({ fixes }: FixList): Claim[] {
  return fixes.flatMap(({ id, line, issue, result }) => {
    return result === null ? [] : [{ item: id, line, words: issue }]
  })
}

function commandsOfFixes({ fixes }: FixList): ProposedCheck[] {
  return fixes.flatMap(({ id, line, verification, check }) => {
    return check !== null || verification === null ? [] : spansIn(verification, line, id)
  })
}

const spanForm = /(`+)(?!`)(.+?)(?<!`)\1(?!`)/g

function commandsOfTasks({ tasks }: TaskList): ProposedCheck[] {
  return tasks.flatMap(({ id, checks, verification, unclear }) => {
    if (checks.length > 0) return []
    const notes = [...unclear, ...(verification === null ? [] : [verification])]
    return notes.flatMap(({ line, text }) => spansIn(text, line, id))
  })
}

/** Those of its steps, where it binds none. */
function commandsOfPrompt({ lines, settings }: Prompt): ProposedCheck[] {
  if (settings.checks.length > 0) return []
  return lines.flatMap(({ kind, text, number }) => {
    const isStep = kind === "prose" && /\bVerification(?: Command)?\b[*_]*:/i.test(text)
    return isStep ? spansIn(text, number, null) : []
  })
}

function spansIn(text: string, line: number, item: string | null): ProposedCheck[] {
  const commands = [...text.matchAll(spanForm)].map(([, , code = ""]) => code.trim())
  return commands.filter((run) => run !== "").map((run) => ({ item, line, run }))
}

/** Below the first heading, or at the very beginning. */
function listEdits({ text, lines }: TaskList): Edit[] {
  const heading = lines.find(
    ({ kind, text: words, next, end }) => kind === "prose" && /^#{1,6}\s/.test(words) && next > end,
  )
  const body = lines.find(({ kind }) => kind !== "front-matter")
  const start = heading?.next ?? body?.start ?? text.length
  return [{ start, end: start, text: emptyRegion(text, beginMarker("tasks")) }]
}

/** The region takes the place of the counts, which stay in its marker. */
function promptEdits(prompt: Prompt): Edit[] {
  const { text, lines, claimed } = prompt
  if (claimed === null) {
    const start = placeOfMetrics(prompt)
    const room = start === text.length && text !== "" && !text.endsWith("\n") ? lineEndOf(text) : ""
    return [{ start, end: start, text: room + emptyRegion(text, beginMarker("metrics")) }]
  }
  const begin = beginMarker("metrics", { claimed: `${claimed.success}:${claimed.failure}` })
  return claimed.lines.flatMap((number, index): Edit[] => {
    const line = lines[number - 1]
    if (line === undefined) return []
    const region = index === 0 ? emptyRegion(text, begin) : ""
    return [{ start: line.start, end: line.next, text: region }]
  })
}

function emptyRegion(text: string, begin: string): string {
  const lineEnd = lineEndOf(text)
  return begin + lineEnd + endMarker + lineEnd
}
