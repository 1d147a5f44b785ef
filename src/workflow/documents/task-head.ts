import type { MarkedLine } from "./prose.ts"
import type { Box, BoxMark } from "./task.ts"

/** The line that a task begins with. */
export type TaskHead = {
  line: MarkedLine
  depth: number // columns of a bullet's indentation; of a heading, below 0
  indent: string // of what belongs to it
  givenId: string | null
  title: string
  box: Box | null // of a heading, its status may still follow
}

const bulletForm =
  /^(\s*(?:[-*+]|\d{1,9}[.)])\s+)(?:\[([ xX◔~/-])\]|([☐◔✅])\uFE0F?)(?=\s|$)(\s*)(.*)$/u
const headingForm = /^(#{1,6})\s+(?:([☐◔✅])\uFE0F?\s*)?Task\s+(\d+(?:\.\d+)*[a-z]?)\b\s*(.*)$/iu

export function taskHead(line: MarkedLine): TaskHead | null {
  return bulletHead(line) ?? headingHead(line)
}

function bulletHead(line: MarkedLine): TaskHead | null {
  const [, lead = "", bracket, symbol, , words = ""] = bulletForm.exec(line.text) ?? []
  const sign = bracket ?? symbol
  if (sign === undefined) return null
  const form = bracket === undefined ? "symbol" : "brackets"
  const name = nameIn(words)
  // A list of things that are done, or a legend, has symbols too.
  if (form === "symbol" && name.givenId === null) return null
  const start = line.start + lead.length + (form === "brackets" ? 1 : 0)
  const box: Box = { form, mark: markOf(sign), start, end: start + sign.length, line: line.number }
  const indentation = /^\s*/.exec(line.text)?.[0] ?? ""
  return {
    line,
    depth: columnsOf(indentation),
    indent: indentation + " ".repeat(lead.length - indentation.length),
    ...name,
    box,
  }
}

function headingHead(line: MarkedLine): TaskHead | null {
  const [, marks, symbol, number, rest = ""] = headingForm.exec(line.text) ?? []
  if (marks === undefined || number === undefined) return null
  const start = line.start + marks.length + (line.text.slice(marks.length).search(/\S/) ?? 0)
  const box: Box | null =
    symbol === undefined
      ? null
      : { form: "symbol", mark: markOf(symbol), start, end: start + 1, line: line.number }
  const title = plain(rest.replace(/^[\s:–—.-]+/u, ""))
  return { line, depth: marks.length - 10, indent: "", givenId: number, title, box }
}

function markOf(sign: string): BoxMark {
  if (/[xX✅]/u.test(sign)) return "done"
  return /[◔~/-]/u.test(sign) ? "under-way" : "open"
}

/** How far in something stands; a tab goes on to the next multiple of four. */
export function columnsOf(indentation: string): number {
  let columns = 0
  for (const sign of indentation) columns += sign === "\t" ? 4 - (columns % 4) : 1
  return columns
}

const idForm = /^(?:task\s+)?((?:[a-z]{1,12}[-_]?)?\d+(?:\.\d+)*[a-z]?)([–—:.)]|\s+-(?=\s)|\s)/iu
/** Without anything behind it, only what cannot be a word of the title. */
const evidentId = /^(?:[A-Z]{1,6}[-_]?\d+|\d+(?:\.\d+)+)/

function nameIn(words: string): { givenId: string | null; title: string } {
  const text = plain(words)
  const [lead = "", id, sign = ""] = idForm.exec(text) ?? []
  const rest = text.slice(lead.length)
  const isSeparate = sign.trim() !== "" || /^\s*[–—:]/u.test(rest)
  if (id === undefined || !(isSeparate || evidentId.test(id))) return { givenId: null, title: text }
  return { givenId: id, title: rest.replace(/^[\s:–—-]+/u, "") }
}

/** Without what only sets it in bold or italics. */
function plain(words: string): string {
  return words.replace(/\*\*|__/g, "").trim()
}

/** An id for a task that was given none: what its title says. */
export function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
  return slug.slice(0, 48).replace(/-+$/, "") || "task"
}
