import { onOneLine } from "../../../lib/harmless-text.ts"
import type { Colours } from "../../terminal/colours.ts"
import { cut } from "../../terminal/table.ts"
import type { Colour, Text } from "../../terminal/terminal-text.ts"

/** One line of a conversation, however many rows of a terminal it takes. */
export type Line = {
  /** Stands before the first row; the others are indented as far. */
  readonly prefix: string
  readonly text: string
  readonly colour: Colour | null
  /** Takes one row, and is cut where that ends. */
  readonly isCut: boolean
}

type Style = Partial<Omit<Line, "text">>

/** More of one line helps nobody. */
const mostCharacters = 10_000

export function line(
  text: string,
  { prefix = "", colour = null, isCut = false }: Style = {},
): Line {
  return { prefix, text: shortened(text), colour, isCut }
}

export const blankLine = line("")

/** Each line of a text, with a prefix before the first and room for it before the others. */
export function linesOf(text: string, { prefix = "", ...style }: Style = {}): Line[] {
  const indent = " ".repeat(Bun.stringWidth(prefix))
  return text
    .split("\n")
    .map((one, index) => line(one, { ...style, prefix: index === 0 ? prefix : indent }))
}

/** The first lines of a text, and how many more there are. */
export function foldedLines(text: string, most: number, style: Style = {}): Line[] {
  const lines = text.replace(/\n+$/, "").split("\n")
  const shown = linesOf(lines.slice(0, most).join("\n"), style)
  const left = lines.length - most
  if (left <= 0) return shown
  const indent = " ".repeat(Bun.stringWidth(style.prefix ?? ""))
  const more = `… ${left.toLocaleString("en")} more ${left === 1 ? "line" : "lines"}`
  return [...shown, line(more, { prefix: indent, colour: "dim" })]
}

/** The rows that a line takes; without a width it is one. */
export function rowsOf(one: Line, width: number | null, colours: Colours): Text[] {
  const { colour } = one
  const text = visible(one.text)
  const prefix = onOneLine(one.prefix)
  const paint = (row: string): Text => (colour === null ? row : colours[colour](row))
  if (width === null) return [paint(`${prefix}${text}`.trimEnd())]
  if (one.isCut) return [paint(cut(`${prefix}${text}`, width))]
  const indent = Bun.stringWidth(prefix)
  const rows = wrapped(text, Math.max(10, width - indent))
  return rows.map((row, at) => paint(`${at === 0 ? prefix : " ".repeat(indent)}${row}`))
}

/** Breaks a text between its words, or inside of one that is too long. */
export function wrapped(text: string, width: number): string[] {
  const rows: string[] = []
  let rest = text
  while (Bun.stringWidth(rest) > width) {
    const fits = fitting(rest, width)
    const space = rest.startsWith(" ", fits.length) ? fits.length : fits.lastIndexOf(" ")
    // A row of nothing but the indentation would be no better.
    const isInsideWord = space === -1 || rest.slice(0, space).trim() === ""
    rows.push(isInsideWord ? fits : rest.slice(0, space))
    rest = isInsideWord ? rest.slice(fits.length) : rest.slice(space + 1)
  }
  return [...rows, rest]
}

/** As much of the beginning as fits; a character at least. */
export function fitting(text: string, width: number): string {
  let used = 0
  let end = 0
  for (const character of text) {
    used += Bun.stringWidth(character)
    if (used > width && end > 0) break
    end += character.length
  }
  return text.slice(0, end)
}

/** As it will be shown, so that it can be measured. */
export function visible(text: string): string {
  // The first asks for a coloured picture of the character before it: it is seen without, too.
  return onOneLine(text.replaceAll("\ufe0f", "").replaceAll("\t", "    "))
}

function shortened(text: string): string {
  const left = text.length - mostCharacters
  if (left <= 0) return text
  return `${text.slice(0, mostCharacters)}… ${left.toLocaleString("en")} more characters`
}
