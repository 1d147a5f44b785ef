import type { TerminalSize } from "../../execution/spec.ts"
import {
  linePrototype,
  type Xterm,
  type XtermCore,
  type XtermLine,
  type XtermParams,
} from "./xterm-core.ts"

/** Scrollback that is kept, in lines, where lines are short. */
const mostScrollbackLines = 1000
/** A cell takes twelve bytes. */
const mostScrollbackCells = 250_000
const mostScreenCells = 125_000
const mostColumns = 1000
const mostRows = 500

export const largestScreen = `${mostColumns} columns, ${mostRows} rows or ${mostScreenCells} cells`

const mostLinks = 2000
const mostCombinedLength = 16

/** What the emulator makes of a size: no screen is larger, whatever a client asks for. */
export function boundedSize({ cols, rows }: TerminalSize): TerminalSize {
  const boundedCols = Math.min(Math.max(cols, 2), mostColumns)
  const fittingRows = Math.floor(mostScreenCells / boundedCols)
  return { cols: boundedCols, rows: Math.min(Math.max(rows, 1), mostRows, fittingRows) }
}

export function scrollbackFor({ cols }: TerminalSize): number {
  return Math.min(mostScrollbackLines, Math.floor(mostScrollbackCells / cols))
}

/**
 * Keeps a few bytes of output from costing seconds or gigabytes: counts beyond the screen are cut
 * to it, hyperlinks and combining characters are limited in number.
 */
export function bound({ terminal, core }: Xterm): void {
  boundCounts(core, () => terminal)
  avoidMissingLine(core, () => terminal)
  boundLinks(core)
  boundCombining(core)
}

/** What is done so often as a parameter says, and no other way than one by one. */
const countedByRows = ["L", "M", "S", "T"]
const countedByColumns = ["@", "P", "X", "I", "Z", "b"]

function boundCounts({ _inputHandler }: XtermCore, size: () => TerminalSize): void {
  const { _parser: parser } = _inputHandler
  const cut = (most: () => number) => (params: XtermParams) => {
    if (params.length > 0) params.params[0] = Math.min(params.params[0] ?? 0, most())
    return false // and then as ever
  }
  const rows = cut(() => size().rows)
  const columns = cut(() => size().cols)
  for (const final of countedByRows) parser.registerCsiHandler({ final }, rows)
  for (const final of countedByColumns) parser.registerCsiHandler({ final }, columns)
  for (const final of ["@", "A"]) parser.registerCsiHandler({ intermediates: " ", final }, columns)
  for (const final of ["}", "~"]) parser.registerCsiHandler({ intermediates: "'", final }, columns)
}

/**
 * Erasing up to the last column, @xterm/headless unwraps the line below, and throws where there is
 * none. There, it is the whole screen that is erased.
 */
function avoidMissingLine(core: XtermCore, size: () => TerminalSize): void {
  const erase = (params: XtermParams) => {
    const { x, y } = core.buffer
    const isWhole = x + 1 >= size().cols && y + 1 >= size().rows
    if (params.params[0] === 1 && isWhole) params.params[0] = 2
    return false
  }
  const { _parser: parser } = core._inputHandler
  parser.registerCsiHandler({ final: "J" }, erase)
  parser.registerCsiHandler({ prefix: "?", final: "J" }, erase)
}

function boundLinks({ _oscLinkService: links }: XtermCore): void {
  const register = links.registerLink.bind(links)
  links.registerLink = (data) => (links._dataByLinkId.size < mostLinks ? register(data) : 0)
}

const isBounded = new WeakSet<object>()

function boundCombining({ buffer }: XtermCore): void {
  const line = buffer.lines.get(0)
  if (line === undefined) return
  const prototype = linePrototype(line)
  if (isBounded.has(prototype)) return
  isBounded.add(prototype)
  const add = prototype.addCodepointToCell
  prototype.addCodepointToCell = function bounded(this: XtermLine, index, codePoint, width) {
    const isFull = (this._combined[index]?.length ?? 0) >= mostCombinedLength
    if (!isFull) add.call(this, index, codePoint, width)
  }
}
