import type { TerminalSize } from "../../execution/spec.ts"
import { isQuery } from "../queries.ts"
import { SequenceLexer } from "../sequence-lexer.ts"
import { answerMore } from "./answers.ts"
import { bound, boundedSize, scrollbackFor } from "./bounds.ts"
import { type CharsetNames, restoreText, styledLines } from "./restore-text.ts"
import { saveScreenPlaces } from "./saved-cursor.ts"
import { opened, type Xterm } from "./xterm-core.ts"

/** What the terminal says to the program because of a query, and where that ended. */
export type TerminalAnswer = {
  /** Bytes of the chunk up to the end of the query. */
  after: number
  text: string
}

/** Modes that change what keys and pastes send. */
export type TerminalModes = {
  applicationCursorKeys: boolean
  applicationKeypad: boolean
  bracketedPaste: boolean
  focusEvents: boolean
  mouse: "none" | "x10" | "normal" | "drag" | "any"
  mouseEncoding: "default" | "sgr" | "sgr-pixels"
}

export type EmulatorEvents = { bell(): void }

/** A terminal without a window: what it would show of the output of a program. */
export class Emulator implements Disposable {
  readonly #xterm: Xterm
  readonly #lexer = new SequenceLexer()
  #typed = ""
  #title = ""
  #faults = 0

  constructor(size: TerminalSize, events?: EmulatorEvents) {
    const bounded = boundedSize(size)
    const windowOptions = { getWinSizeChars: true }
    this.#xterm = opened({ ...bounded, scrollback: scrollbackFor(bounded), windowOptions })
    const { terminal, core } = this.#xterm
    answerMore(this.#xterm)
    bound(this.#xterm) // later handlers are asked first
    saveScreenPlaces(core)
    terminal.onData((text) => {
      this.#typed += text
    })
    terminal.onTitleChange((title) => {
      this.#title = title
    })
    if (events !== undefined) terminal.onBell(() => events.bell())
  }

  get size(): TerminalSize {
    const { cols, rows } = this.#xterm.terminal
    return { cols, rows }
  }

  get xterm(): Xterm {
    return this.#xterm
  }

  get title(): string {
    return this.#title
  }

  get isAlternate(): boolean {
    const { buffer, buffers } = this.#xterm.core
    return buffer === buffers.alt
  }

  get cursor(): { x: number; y: number; visible: boolean } {
    const { buffer, coreService } = this.#xterm.core
    const x = Math.min(buffer.x, this.size.cols - 1)
    return { x, y: buffer.y, visible: !coreService.isCursorHidden }
  }

  get modes(): TerminalModes {
    const { coreService, coreMouseService } = this.#xterm.core
    const { decPrivateModes: modes } = coreService
    return {
      applicationCursorKeys: modes.applicationCursorKeys,
      applicationKeypad: modes.applicationKeypad,
      bracketedPaste: modes.bracketedPasteMode,
      focusEvents: modes.sendFocus,
      mouse: mouseProtocols.get(coreMouseService.activeProtocol) ?? "none",
      mouseEncoding: mouseEncodings.get(coreMouseService.activeEncoding) ?? "default",
    }
  }

  /** Bytes at the end of what was written that do not show yet: no whole sequence or character. */
  get unfinishedBytes(): number {
    return this.#lexer.unfinishedBytes
  }

  /** How often output was more than it can show: then the screen may be wrong. */
  get faults(): number {
    return this.#faults
  }

  /** The lines above the screen that are kept. */
  get scrollbackLines(): number {
    return this.#xterm.core.buffers.normal.ybase
  }

  /** Shows a chunk of output; answers what the terminal answers, in order. */
  write(chunk: Uint8Array): TerminalAnswer[] {
    const answers: TerminalAnswer[] = []
    let shown = 0
    let whole = 0
    let all = chunk
    this.#lexer.lex(chunk, (kind, bytes, from, to) => {
      all = bytes
      whole = to
      const isAsked = kind === "sequence" && isQuery(bytes, from, to)
      if (kind === "sequence" && !isAsked) return
      if (kind === "text") return
      // Of a string that is too long nothing is shown; behind a query stands what it is answered.
      this.#feed(bytes.subarray(shown, isAsked ? to : from))
      if (isAsked && isOpenEnded(bytes, from, to)) this.#feed(stringTerminator)
      this.#take(answers, to - (bytes.length - chunk.length))
      shown = to
    })
    this.#feed(all.subarray(shown, whole))
    this.#take(answers, chunk.length)
    return answers
  }

  resize(size: TerminalSize): void {
    const { cols, rows } = boundedSize(size)
    this.#xterm.terminal.options.scrollback = scrollbackFor({ cols, rows })
    this.#xterm.terminal.resize(cols, rows)
  }

  /** Brings a screen back, as `restoreText` gave it. */
  restore(text: string, title: string): void {
    this.#feed(Buffer.from(text))
    this.#typed = ""
    this.#title = title
  }

  restoreText(scrollbackLines: number): string {
    return restoreText(this.#xterm, scrollbackLines, charsetNames())
  }

  /** The lines of the screen and of the scrollback before it, as text. */
  text(scrollbackLines: number, form: "plain" | "styled"): string[] {
    const { buffer } = this.#xterm.core
    const from = Math.max(0, buffer.ybase - scrollbackLines)
    const to = buffer.ybase + this.size.rows
    if (form === "styled") return styledLines(this.#xterm, from, to)
    const { active } = this.#xterm.terminal.buffer
    return Array.from(
      { length: to - from },
      (_, at) => active.getLine(from + at)?.translateToString(true) ?? "",
    )
  }

  [Symbol.dispose](): void {
    this.#xterm.terminal.dispose()
  }

  #feed(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    try {
      // As text, with what is no UTF-8 marked: its own decoder would drop that, and sometimes more.
      this.#xterm.core.writeSync(decoder.decode(bytes))
    } catch {
      // What no program writes can be too much for it: the rest of these bytes is not shown.
      this.#faults += 1
      this.#xterm.core._inputHandler._parser.reset()
    }
  }

  #take(answers: TerminalAnswer[], after: number): void {
    if (this.#typed === "") return
    answers.push({ after, text: this.#typed })
    this.#typed = ""
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const stringTerminator = Buffer.from("\x1b\\")

/** A control string that another sequence ended: it is only obeyed when that one begins. */
function isOpenEnded(bytes: Uint8Array, from: number, to: number): boolean {
  const introducer = bytes[from + 1] ?? 0
  const isString = introducer === 0x5d || introducer === 0x50 || introducer >= 0x90
  const last = bytes[to - 1] ?? 0
  return isString && last !== 0x07 && last !== 0x5c && last !== 0x9c && bytes[to] === 0x1b
}

const mouseProtocols = new Map<string, TerminalModes["mouse"]>([
  ["X10", "x10"],
  ["VT200", "normal"],
  ["DRAG", "drag"],
  ["ANY", "any"],
])
const mouseEncodings = new Map<string, TerminalModes["mouseEncoding"]>([
  ["SGR", "sgr"],
  ["SGR_PIXELS", "sgr-pixels"],
])

let knownCharsets: CharsetNames | null = null

/** Character sets are tables without a name: choosing each of them tells which is which. */
function charsetNames(): CharsetNames {
  if (knownCharsets !== null) return knownCharsets
  const { terminal, core } = opened({ cols: 2, rows: 1, scrollback: 0 })
  const names = new Map<object, string>()
  for (const name of "0AB4C5RQKYEZH7=") {
    core.writeSync(Buffer.from(`\x1b(${name}`))
    const charset = core._charsetService._charsets[0]
    if (charset !== undefined && !names.has(charset)) names.set(charset, name)
  }
  terminal.dispose()
  knownCharsets = names
  return names
}
