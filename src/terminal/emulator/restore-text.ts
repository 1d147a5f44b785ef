import {
  blankStyle,
  type CellStyle,
  hasBackground,
  isSameStyle,
  penStyle,
  shownStyle,
  styleOf,
  styleSequence,
} from "./cell-style.ts"
import { CellWriter } from "./cell-writer.ts"
import { savedRow } from "./saved-cursor.ts"
import {
  newCell,
  type Xterm,
  type XtermBuffer,
  type XtermCell,
  type XtermLine,
} from "./xterm-core.ts"

/** Sets a character set's name by the object that the emulator has for it. */
export type CharsetNames = ReadonlyMap<object, string>

/**
 * What makes a new terminal of the same size show this screen, and behave as this one: both
 * screens, so much scrollback, the cursor, what was saved, margins, tab stops and modes.
 */
export function restoreText(xterm: Xterm, scrollbackLines: number, charsets: CharsetNames): string {
  return new Restoration(xterm, charsets).text(scrollbackLines)
}

/** Lines as text with colours only, for a terminal that prints them. */
export function styledLines(xterm: Xterm, from: number, to: number): string[] {
  const { lines } = xterm.core.buffer
  const writer = new CellWriter(xterm, "left-out")
  const texts: string[] = []
  for (let at = from; at < to; at += 1) {
    const line = lines.get(at)
    if (line === undefined) continue
    writer.line(line, "spaces")
    writer.plain()
    texts.push(writer.taken())
  }
  return texts
}

class Restoration {
  readonly #xterm: Xterm
  readonly #charsets: CharsetNames
  readonly #writer: CellWriter
  #text: string[] = []

  constructor(xterm: Xterm, charsets: CharsetNames) {
    this.#xterm = xterm
    this.#charsets = charsets
    this.#writer = new CellWriter(xterm)
  }

  text(scrollbackLines: number): string {
    const { buffers, buffer } = this.#xterm.core
    this.#normalLines(buffers.normal, scrollbackLines)
    this.#ofBuffer(buffers.normal)
    if (buffer === buffers.alt) {
      this.#add("\x1b[?1047h")
      this.#alternateLines(buffers.alt)
      this.#ofBuffer(buffers.alt)
    }
    this.#tabStops(buffer)
    this.#modes()
    this.#cursor(buffer)
    return this.#text.join("")
  }

  #add(text: string): void {
    this.#text.push(text)
  }

  #normalLines({ lines, ybase }: XtermBuffer, scrollbackLines: number): void {
    const from = Math.max(0, ybase - scrollbackLines)
    for (let at = from; at < lines.length; at += 1) {
      const line = lines.get(at)
      if (line === undefined) continue
      const { cols } = this.#xterm.terminal
      const goesOnAfter = lengthBeforeNext(line, lines.get(at + 1), this.#xterm)
      this.#writer.line(line, "exact", goesOnAfter ?? cols)
      if (goesOnAfter === null && at + 1 < lines.length) {
        this.#writer.plain() // else the line that comes gets this background
        this.#writer.add("\r\n")
      }
    }
    this.#writer.plain()
    this.#add(this.#writer.taken())
  }

  #alternateLines({ lines, ybase }: XtermBuffer): void {
    for (let row = 0; row < this.#xterm.terminal.rows; row += 1) {
      const line = lines.get(ybase + row)
      if (line === undefined) continue
      this.#writer.add(`\x1b[${row + 1}H`)
      this.#writer.line(line, "exact")
    }
    this.#writer.plain()
    this.#add(this.#writer.taken())
  }

  /** Its margins, and what was saved with its cursor. */
  #ofBuffer(buffer: XtermBuffer): void {
    const { rows, cols } = this.#xterm.terminal
    const { scrollTop, scrollBottom, savedX, savedCharset } = buffer
    if (scrollTop !== 0 || scrollBottom !== rows - 1) {
      this.#add(`\x1b[${scrollTop + 1};${scrollBottom + 1}r`)
    }
    const row = Math.min(savedRow(buffer), rows - 1)
    const style = styleOf(buffer.savedCurAttrData)
    const charset = savedCharset === undefined ? undefined : this.#charsets.get(savedCharset)
    this.#add(`\x1b[${row + 1};${Math.min(savedX, cols - 1) + 1}H${styleSequence(style)}`)
    if (charset !== undefined) this.#add(`\x1b(${charset}`)
    this.#add("\x1b7\x1b[0m")
    if (charset !== undefined) this.#add("\x1b(B")
  }

  #tabStops({ tabs }: XtermBuffer): void {
    const { cols } = this.#xterm.terminal
    const columns = Array.from({ length: cols }, (_, column) => column)
    if (columns.every((column) => (tabs[column] === true) === (column % 8 === 0))) return
    this.#add("\x1b[3g")
    for (const column of columns) if (tabs[column] === true) this.#add(`\x1b[${column + 1}G\x1bH`)
  }

  #modes(): void {
    const { coreService, coreMouseService } = this.#xterm.core
    const { decPrivateModes: modes, isCursorHidden } = coreService
    const set = (is: boolean, sequence: string) => is && this.#add(sequence)
    set(modes.applicationCursorKeys, "\x1b[?1h")
    set(modes.applicationKeypad, "\x1b=")
    set(modes.bracketedPasteMode, "\x1b[?2004h")
    set(modes.sendFocus, "\x1b[?1004h")
    set(modes.reverseWraparound, "\x1b[?45h")
    const mouse = mouseModes.get(coreMouseService.activeProtocol)
    if (mouse !== undefined) this.#add(`\x1b[?${mouse}h`)
    const encoding = mouseEncodings.get(coreMouseService.activeEncoding)
    if (encoding !== undefined) this.#add(`\x1b[?${encoding}h`)
    set(isCursorHidden, "\x1b[?25l")
    if (modes.cursorStyle !== undefined) {
      const shape = cursorShapes.indexOf(modes.cursorStyle) * 2
      this.#add(`\x1b[${shape + (modes.cursorBlink === true ? 1 : 2)} q`)
    }
    set(this.#xterm.terminal.options.convertEol === true, "\x1b[20h")
    set(modes.origin, "\x1b[?6h")
  }

  #cursor(buffer: XtermBuffer): void {
    const { core, terminal } = this.#xterm
    const { modes, decPrivateModes } = core.coreService
    const { x, y } = buffer
    const row = decPrivateModes.origin ? y - buffer.scrollTop : y
    const isMidWord = core._inputHandler._parser.precedingJoinState !== 0
    const last = isMidWord || x >= terminal.cols ? lastCell(this.#xterm, buffer) : null
    const style = penStyle(core._inputHandler._curAttrData)
    if (last === null) {
      this.#add(`\x1b[${row + 1};${Math.min(x, terminal.cols - 1) + 1}H`)
      this.#style(style)
      this.#characterSets()
      this.#lineModes(modes.insertMode, decPrivateModes.wraparound)
      return
    }
    // Its last character once more: the next one may combine with it, or begin the next line.
    this.#add(`\x1b[${row + 1};${last.x + 1}H`)
    const isOneStyle = isSameStyle(last.style, shownStyle(core._inputHandler._curAttrData))
    if (isOneStyle && !modes.insertMode && decPrivateModes.wraparound) {
      this.#style(style)
      const isTranslated = core._charsetService.charset !== undefined
      if (!isTranslated) this.#characterSets()
      this.#add(last.chars)
      if (isTranslated) this.#characterSets()
      return
    }
    this.#style(last.style)
    this.#add(last.chars)
    this.#writer.plain()
    this.#add(this.#writer.taken())
    this.#style(style)
    this.#characterSets()
    this.#lineModes(modes.insertMode, decPrivateModes.wraparound)
  }

  #style(style: CellStyle): void {
    this.#writer.style(style)
    this.#add(this.#writer.taken())
  }

  #lineModes(inserts: boolean, wraps: boolean): void {
    if (inserts) this.#add("\x1b[4h")
    if (!wraps) this.#add("\x1b[?7l")
  }

  #characterSets(): void {
    const { glevel, _charsets } = this.#xterm.core._charsetService
    for (const [level, introducer] of ["(", ")", "*", "+"].entries()) {
      const charset = _charsets[level]
      const name = charset === undefined ? undefined : this.#charsets.get(charset)
      if (name !== undefined) this.#add(`\x1b${introducer}${name}`)
    }
    if (glevel > 0) this.#add(["", "\x0e", "\x1bn", "\x1bo"][glevel] ?? "")
  }
}

const mouseModes: ReadonlyMap<string, number> = new Map([
  ["X10", 9],
  ["VT200", 1000],
  ["DRAG", 1002],
  ["ANY", 1003],
])
const mouseEncodings: ReadonlyMap<string, number> = new Map([
  ["SGR", 1006],
  ["SGR_PIXELS", 1016],
])
const cursorShapes = ["block", "underline", "bar"]

/** After how many cells the next line goes on with this one; null where it does not. */
function lengthBeforeNext(line: XtermLine, next: XtermLine | undefined, xterm: Xterm) {
  if (next?.isWrapped !== true) return null
  const { cols } = xterm.terminal
  const cell = newCell(xterm)
  const first = next.loadCell(0, cell)
  const [chars, width, style] = [first.getChars(), first.getWidth(), styleOf(first)]
  // A line that begins in a colour would be filled with it.
  if (chars === "" || hasBackground(style)) return null
  if (isFilled(line.loadCell(cols - 1, cell))) return cols
  // A wide character that did not fit has left a cell empty.
  if (width !== 2 || !isSameStyle(styleOf(cell), style)) return null
  return isFilled(line.loadCell(cols - 2, cell)) ? cols - 1 : null
}

function isFilled(cell: XtermCell): boolean {
  return cell.getChars() !== "" || cell.getWidth() === 0
}

/** The character before the cursor; null where there is none, and the next goes where it stands. */
function lastCell(xterm: Xterm, { lines, x, y, ybase }: XtermBuffer) {
  const line = lines.get(ybase + y)
  if (line === undefined || x === 0) return null
  const cell = newCell(xterm)
  for (let at = x - 1; at >= Math.max(0, x - 2); at -= 1) {
    line.loadCell(at, cell)
    const chars = cell.getChars()
    if (chars !== "" && at + cell.getWidth() === x) return { x: at, chars, style: shownStyle(cell) }
  }
  if (x < xterm.terminal.cols) return null
  // What was written there is gone, but the next character still begins a line.
  line.loadCell(x - 1, cell)
  return { x: x - 1, chars: " ", style: blankStyle(shownStyle(cell)) }
}
