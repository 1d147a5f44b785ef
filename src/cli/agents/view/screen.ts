import type { TerminalSize } from "../../../execution/spec.ts"
import { delay } from "../../../lib/delay.ts"
import type { Context } from "../../context.ts"
import { type Colours, coloursFor } from "../../terminal/colours.ts"
import {
  aboveAndBelow,
  markPastes,
  markPastesNoMore,
  plainText,
  type Text,
} from "../../terminal/terminal-text.ts"
import type { Bottom } from "./bottom.ts"
import { type Line, rowsOf } from "./line.ts"

/** How long a picture stays at least: words come faster than anybody sees them. */
const frameMs = 30
/** Lines that wait for a slow terminal; then whoever brings more waits, too. */
const mostWaitingLines = 500

type Draw = (size: TerminalSize, colours: Colours) => Bottom

/**
 * A terminal on which lines stay as they were written, with a few rows below them that are drawn
 * anew. One picture is written at a time, however long the terminal takes for it.
 */
export class Screen {
  readonly #context: Context
  readonly #draw: Draw
  readonly #colours: Colours
  readonly #failed: (error: unknown) => void
  #lines: Line[] = []
  #room = Promise.withResolvers<void>()
  #drawing: Promise<void> = Promise.resolve()
  #isDrawing = false
  #isOutdated = false
  #isClosed = false
  /** How wide the rows of the last picture were, down to the one with the cursor. */
  #widths: number[] = []
  /** What stands there now: it is not written a second time. */
  #last = ""

  constructor(context: Context, draw: Draw, failed: (error: unknown) => void) {
    this.#context = context
    this.#draw = draw
    this.#failed = failed
    this.#colours = coloursFor(context.stdout, context.env)
  }

  async open(): Promise<void> {
    await this.#context.stdout.write(markPastes)
    this.refresh()
  }

  add(lines: readonly Line[]): void {
    this.#lines.push(...lines)
    this.redraw()
  }

  /** Resolves when more lines may be added. */
  room(): Promise<void> {
    return this.#lines.length < mostWaitingLines ? Promise.resolve() : this.#room.promise
  }

  /** Draws everything anew, whatever happened to the terminal. */
  refresh(): void {
    this.#last = ""
    this.redraw()
  }

  redraw(): void {
    this.#isOutdated = true
    if (this.#isClosed || this.#isDrawing) return
    this.#isDrawing = true
    this.#drawing = this.#drawAll().catch(this.#failed)
  }

  /** Writes what is left, and leaves nothing else behind. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#drawing
    const nothing = { rows: [""], cursor: { row: 0, column: 0 } }
    await this.#context.stdout.write([this.#picture(nothing), markPastesNoMore])
  }

  async #drawAll(): Promise<void> {
    while (this.#isOutdated && !this.#isClosed) {
      this.#isOutdated = false
      const bottom = this.#draw(this.#size(), this.#colours)
      const now = JSON.stringify([bottom.rows.map(plainText), bottom.cursor])
      if (now === this.#last && this.#lines.length === 0) continue
      this.#last = now
      await this.#context.stdout.write(this.#picture(bottom))
      await delay(frameMs)
    }
    this.#isDrawing = false
  }

  #picture({ rows, cursor }: Bottom): Text {
    const { cols } = this.#size()
    const above = this.#lines.flatMap((one) => rowsOf(one, cols, this.#colours))
    this.#lines = []
    this.#room.resolve()
    this.#room = Promise.withResolvers()
    const up = this.#rowsAbove(cols)
    this.#widths = rows.slice(0, cursor.row + 1).map(widthOf)
    return aboveAndBelow(up, above, rows, cursor)
  }

  /** Rows that no longer fit have become several, in the terminals that wrap them anew. */
  #rowsAbove(cols: number): number {
    const rows = this.#widths.map((width) => Math.max(1, Math.ceil(width / cols)))
    return rows.reduce((sum, count) => sum + count, 0) - 1
  }

  #size(): TerminalSize {
    return this.#context.terminalSize() ?? { cols: 80, rows: 24 }
  }
}

function widthOf(row: Text): number {
  return Bun.stringWidth(plainText(row))
}
