import type { TerminalSize } from "../../../execution/spec.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import { CellWriter } from "../../../terminal/emulator/cell-writer.ts"
import type { Emulator } from "../../../terminal/emulator/emulator.ts"

const synchronized = { begin: "\x1b[?2026h", end: "\x1b[?2026l" }
const eraseToEnd = "\x1b[0m\x1b[K"

/**
 * Shows a screen on the terminal here: only the rows that have changed. One that is smaller than
 * this terminal gets a frame; of one that is larger, the part around the cursor is shown.
 */
export class Painter {
  #rows: string[] = []
  #modes = ""
  #title = ""
  #own: TerminalSize

  constructor(own: TerminalSize) {
    this.#own = own
  }

  /** Whatever is on the terminal here is not ours any more. */
  forget(own: TerminalSize): void {
    this.#own = own
    this.#rows = []
    this.#modes = ""
  }

  /** What to write so that the terminal shows it. */
  paint(emulator: Emulator, note: string): string {
    const { own } = { own: this.#own }
    const { size, cursor } = emulator
    const top = Math.max(0, Math.min(cursor.y - own.rows + 1, size.rows - own.rows))
    const left = Math.max(0, Math.min(cursor.x - own.cols + 1, size.cols - own.cols))
    const isFirst = this.#rows.length === 0
    const rows = [...screenRows(emulator, top, left, own), ...below(size, own, note)].slice(
      0,
      own.rows,
    )
    const changed = rows.map((row, y) => (this.#rows[y] === row ? "" : `\x1b[${y + 1};1H${row}`))
    this.#rows = rows
    const isShown = cursor.visible && cursor.x - left < own.cols && cursor.y - top < own.rows
    const painted = [
      isFirst ? "\x1b[0m\x1b[2J\x1b[?7l" : "",
      ...changed,
      this.#changedTitle(emulator.title),
      this.#changedModes(emulator),
      `\x1b[${cursor.y - top + 1};${cursor.x - left + 1}H`,
      isShown ? "\x1b[?25h" : "",
    ]
    return `${synchronized.begin}\x1b[?25l${painted.join("")}${synchronized.end}`
  }

  #changedTitle(title: string): string {
    if (title === this.#title) return ""
    this.#title = title
    return `\x1b]2;${onOneLine(title)}\x1b\\`
  }

  #changedModes(emulator: Emulator): string {
    const modes = modeSequences(emulator)
    if (modes === this.#modes) return ""
    this.#modes = modes
    return modes
  }
}

/** What a program has asked of its terminal, so that keys and mouse send what it expects. */
function modeSequences({ modes, xterm }: Emulator): string {
  const set = (mode: number, isOn: boolean) => `\x1b[?${mode}${isOn ? "h" : "l"}`
  const { cursorStyle, cursorBlink } = xterm.core.coreService.decPrivateModes
  const shape = cursorStyle === undefined ? 0 : ["block", "underline", "bar"].indexOf(cursorStyle)
  const shapeNumber = cursorStyle === undefined ? 0 : shape * 2 + (cursorBlink === true ? 1 : 2)
  return [
    set(1, modes.applicationCursorKeys),
    modes.applicationKeypad ? "\x1b=" : "\x1b>",
    set(2004, modes.bracketedPaste),
    set(1004, modes.focusEvents),
    mouseSequence(modes.mouse),
    set(1006, modes.mouseEncoding !== "default"),
    `\x1b[${shapeNumber} q`,
  ].join("")
}

const mouseModes = { x10: 9, normal: 1000, drag: 1002, any: 1003 }

function mouseSequence(mouse: Emulator["modes"]["mouse"]): string {
  const off = "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l"
  return mouse === "none" ? off : `${off}\x1b[?${mouseModes[mouse]}h`
}

function screenRows(
  { xterm, size }: Emulator,
  top: number,
  left: number,
  own: TerminalSize,
): string[] {
  const { buffer } = xterm.core
  const writer = new CellWriter(xterm)
  const shownRows = Math.min(own.rows, size.rows - top)
  const isFramed = own.cols > size.cols
  return Array.from({ length: shownRows }, (_, y) => {
    const line = buffer.lines.get(buffer.ybase + top + y)
    const to = Math.min(size.cols, left + own.cols)
    const written = line === undefined ? 0 : writer.line(line, "spaces", to, left)
    writer.plain()
    const text = writer.taken()
    if (isFramed) return `${text}${eraseToEnd}\x1b[${size.cols + 1}G\x1b[2m│\x1b[0m`
    return written < own.cols ? `${text}${eraseToEnd}` : text
  })
}

/** The lower edge of a screen that is smaller, with what is to be said of it, and nothing. */
function below(size: TerminalSize, own: TerminalSize, note: string): string[] {
  if (own.rows <= size.rows) return []
  const corner = own.cols > size.cols ? "┘" : ""
  const width = Math.min(size.cols, own.cols)
  const said = note.length + 4 <= width ? `─ ${note} ` : ""
  const edge = `\x1b[2m${said}${"─".repeat(width - said.length)}${corner}${eraseToEnd}`
  const empty = Array.from({ length: own.rows - size.rows - 1 }, () => eraseToEnd)
  return [edge, ...empty]
}
