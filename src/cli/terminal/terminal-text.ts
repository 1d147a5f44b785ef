import { harmless } from "../../lib/harmless-text.ts"

/**
 * What is written for people. A string may hold what anybody wrote, and cannot act on a terminal;
 * what acts on one is a sequence, and those are made in this file alone.
 */
export type Text = string | Sequence | readonly Text[]

export type { Sequence }

class Sequence {
  readonly #bytes: string

  constructor(bytes: string) {
    this.#bytes = bytes
  }

  get bytes(): string {
    return this.#bytes
  }
}

/** The characters for a terminal, a file or a pipe: everybody's are made harmless but our own. */
export function terminalText(text: Text): string {
  if (typeof text === "string") return harmless(text)
  return text instanceof Sequence ? text.bytes : text.map(terminalText).join("")
}

/** Each of them on a line. */
export function asLines(lines: readonly Text[]): Text {
  return lines.map((line) => [line, "\n"])
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "dim" | "bold"

const colourCodes = { green: 32, red: 31, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const

export function coloured(colour: Colour, text: string): Text {
  return [new Sequence(`\x1b[${colourCodes[colour]}m`), text, new Sequence("\x1b[0m")]
}

/** Text whose colours are those of its background, and the other way round. */
export function reversed(text: string): Text {
  return [new Sequence("\x1b[7m"), text, new Sequence("\x1b[0m")]
}

/** What of it is letters, without colours. */
export function plainText(text: Text): string {
  if (typeof text === "string") return text
  return text instanceof Sequence ? "" : text.map(plainText).join("")
}

/** A screen of its own: what was there before comes back afterwards. Long lines are cut. */
export const enterScreen = new Sequence("\x1b[?1049h\x1b[?25l\x1b[?7l")
export const leaveScreen = new Sequence("\x1b[?7h\x1b[?25h\x1b[?1049l")

/** These lines and nothing else, without a moment in which there is nothing. */
export function wholeScreen(lines: readonly Text[]): Text {
  const eachLine = lines.map((line, index) => [index === 0 ? "" : rawLineEnd, line, eraseRest])
  return [new Sequence("\x1b[H"), eachLine, new Sequence("\x1b[J")]
}

const eraseRest = new Sequence("\x1b[K")

export const eraseLine = new Sequence("\r\x1b[2K")

/** In raw mode a line feed alone goes down, not back to the left. */
export const rawLineEnd = new Sequence("\r\n")

/** Back to the beginning of a line further up, with nothing below it left. */
export function erasedFrom(linesUp: number): Text {
  return linesUp === 0 ? "" : new Sequence(`\x1b[${Math.trunc(linesUp)}A\r\x1b[J`)
}

/** What is pasted comes between two marks, so that it is not taken for keys. */
export const markPastes = new Sequence("\x1b[?2004h")
export const markPastesNoMore = new Sequence("\x1b[?2004l")

export type CursorPlace = { row: number; column: number }

/**
 * Lines that stay, and below them rows that are drawn anew each time. `up` is how far above the
 * cursor the rows of last time begin; the cursor is put where it is wanted among the new ones.
 */
export function aboveAndBelow(
  up: number,
  above: readonly Text[],
  below: readonly Text[],
  cursor: CursorPlace,
): Text {
  const rowsDown = below.length - 1 - cursor.row
  return [
    // Shown at once by terminals that know how; the others ignore it.
    new Sequence(`\x1b[?2026h\x1b[?25l${upward(up)}\r\x1b[J`),
    above.map((row) => [row, rawLineEnd]),
    // A row that turned out wider than was counted must not become two.
    new Sequence("\x1b[?7l"),
    below.map((row, index) => [index === 0 ? "" : rawLineEnd, row]),
    new Sequence(`\x1b[?7h${upward(rowsDown)}\r${rightward(cursor.column)}\x1b[?25h\x1b[?2026l`),
  ]
}

function upward(rows: number): string {
  return rows > 0 ? `\x1b[${Math.trunc(rows)}A` : ""
}

function rightward(columns: number): string {
  return columns > 0 ? `\x1b[${Math.trunc(columns)}C` : ""
}
