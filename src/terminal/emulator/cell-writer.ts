import {
  blankStyle,
  type CellStyle,
  isErasable,
  isSameStyle,
  plainStyle,
  shownStyle,
  styleSequence,
} from "./cell-style.ts"
import { newCell, type Xterm, type XtermCell, type XtermLine } from "./xterm-core.ts"

/** Without a character before it, it would change the cell before. */
const combines = /^[\p{M}\u200d]/u

/** Writes cells one after the other, and says only what changes between them. */
export class CellWriter {
  readonly #xterm: Xterm
  readonly #cell: XtermCell
  readonly #links: "kept" | "left-out"
  #style: CellStyle = plainStyle
  #text = ""

  constructor(xterm: Xterm, links: "kept" | "left-out" = "kept") {
    this.#xterm = xterm
    this.#links = links
    this.#cell = newCell(xterm)
  }

  add(text: string): void {
    this.#text += text
  }

  taken(): string {
    const text = this.#text
    this.#text = ""
    return text
  }

  style(style: CellStyle): void {
    if (isSameStyle(style, this.#style)) return
    const before = this.#style
    this.#style = style
    const linksOther = this.#links === "kept" && style.link !== before.link
    if (linksOther) this.#text += this.#link(style.link)
    const looksOther = style.fg !== before.fg || style.bg !== before.bg || style.ext !== before.ext
    if (looksOther) this.#text += styleSequence(style)
  }

  plain(): void {
    this.style(plainStyle)
  }

  /**
   * The cells from `from` to `to`; answers how many were written. `exact` leaves cells empty that
   * are; `spaces` writes them, up to the last that shows.
   */
  line(
    line: XtermLine,
    empty: "exact" | "spaces",
    to = this.#xterm.terminal.cols,
    from = 0,
  ): number {
    const end = lastShown(line, Math.min(to, line.length), this.#cell) + 1
    for (let x = from; x < end; ) {
      line.loadCell(x, this.#cell)
      const chars = this.#cell.getChars()
      const width = this.#cell.getWidth()
      if (chars !== "" || width === 0) {
        this.style(shownStyle(this.#cell))
        // Of a wide character that something was written over, or that does not fit.
        const isHalf =
          width === 0 ||
          (width === 2 && (x + 2 > to || line.loadCell(x + 1, this.#cell).getWidth() !== 0))
        this.#text += isHalf || combines.test(chars) ? " " : chars
        x += isHalf ? 1 : width
      } else {
        const style = blankStyle(shownStyle(this.#cell))
        const length = this.#emptyCells(line, x, end, style)
        this.#writeEmpty(length, style, empty)
        x += length
      }
    }
    return Math.max(0, end - from)
  }

  #emptyCells(line: XtermLine, from: number, end: number, style: CellStyle): number {
    let x = from + 1
    while (x < end) {
      line.loadCell(x, this.#cell)
      const isLike = isSameStyle(blankStyle(shownStyle(this.#cell)), style)
      if (this.#cell.getChars() !== "" || !isLike) break
      x += 1
    }
    return x - from
  }

  #writeEmpty(length: number, style: CellStyle, empty: "exact" | "spaces"): void {
    if (empty === "exact" && isSameStyle(style, plainStyle)) {
      this.#text += `\x1b[${length}C`
    } else if (empty === "exact" && isErasable(style)) {
      this.style(style)
      this.#text += `\x1b[${length}X\x1b[${length}C`
    } else {
      this.style(style)
      this.#text += " ".repeat(length)
    }
  }

  #link(link: number): string {
    const data = link === 0 ? undefined : this.#xterm.core._oscLinkService.getLinkData(link)
    if (data === undefined) return "\x1b]8;;\x1b\\"
    return `\x1b]8;${data.id === undefined ? "" : `id=${data.id}`};${data.uri}\x1b\\`
  }
}

function lastShown(line: XtermLine, cols: number, cell: XtermCell): number {
  for (let x = cols - 1; x >= 0; x -= 1) {
    line.loadCell(x, cell)
    if (cell.getChars() !== "") return x
    if (!isSameStyle(blankStyle(shownStyle(cell)), plainStyle)) return x
  }
  return -1
}
