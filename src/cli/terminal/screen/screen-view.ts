import type { ExecutionEvent } from "../../../client/output/execution-event.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { Emulator } from "../../../terminal/emulator/emulator.ts"
import type { Context } from "../../context.ts"
import { Painter } from "./painter.ts"

type Shown = Extract<ExecutionEvent, { kind: "screen" | "output" | "resized" }>

/** Between two pictures, so that a flood costs no more than a few of them a second. */
const betweenPaintsMs = 15

const enter = "\x1b[?1049h\x1b[22;0t\x1b[H"
const leave = [
  "\x1b[?1l\x1b>\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l",
  "\x1b[0 q\x1b[0m\x1b[?7h\x1b[23;0t\x1b[?1049l\x1b[?25h",
].join("")

/**
 * The screen of an execution's terminal, on the alternate screen of the one here: what was there
 * before comes back when it is left.
 */
export class ScreenView {
  readonly #context: Pick<Context, "stdout" | "terminalSize">
  readonly #scrollback: number
  readonly #failed: (error: unknown) => void
  readonly #painter: Painter
  #emulator: Emulator | null = null
  #isEntered = false
  #timer: ReturnType<typeof setTimeout> | null = null
  #painting: Promise<void> = Promise.resolve()
  #rings = false

  constructor(
    context: Pick<Context, "stdout" | "terminalSize">,
    scrollback: number,
    failed: (error: unknown) => void,
  ) {
    this.#context = context
    this.#scrollback = scrollback
    this.#failed = failed
    this.#painter = new Painter(this.#ownSize())
  }

  async show(event: Shown): Promise<void> {
    switch (event.kind) {
      case "screen": {
        const { data, title, cols, rows } = event.screen
        this.#emulator?.[Symbol.dispose]()
        const bell = () => void (this.#rings = true)
        this.#emulator = new Emulator({ cols, rows }, { bell })
        this.#emulator.restore(data, title)
        this.#rings = false
        this.#painter.forget(this.#ownSize()) // something may have been said meanwhile
        if (!this.#isEntered) await this.#write(linesAbove(this.#emulator, this.#scrollback))
        return this.#paintNow()
      }
      case "output":
        this.#emulator?.write(event.bytes)
        break
      case "resized":
        this.#emulator?.resize(event)
        break
    }
    this.#paintSoon()
    await this.#painting
  }

  /** The terminal here has another size, or something else was shown on it. */
  repaint(): void {
    this.#painter.forget(this.#ownSize())
    this.#paintSoon()
  }

  /** Puts back what was there. After the end, the last lines stay to be read. */
  async leave(keeps: "last-lines" | "nothing"): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#painting
    const emulator = this.#emulator
    if (this.#isEntered) await this.#write(leave)
    this.#isEntered = false
    if (keeps === "last-lines" && emulator !== null && !emulator.isAlternate) {
      await this.#write(lastLines(emulator))
    }
    emulator?.[Symbol.dispose]()
    this.#emulator = null
  }

  #paintSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#painting = this.#paintNow().catch(this.#failed)
    }, betweenPaintsMs)
  }

  async #paintNow(): Promise<void> {
    const emulator = this.#emulator
    if (emulator === null) return
    const { cols, rows } = emulator.size
    const note = `${cols}×${rows}, the size of a smaller terminal that types here`
    const picture = this.#painter.paint(emulator, note)
    const bell = this.#rings ? "\x07" : ""
    this.#rings = false
    const begin = this.#isEntered ? "" : enter
    this.#isEntered = true
    await this.#write(`${begin}${picture}${bell}`)
  }

  #ownSize(): TerminalSize {
    return this.#context.terminalSize() ?? { cols: 80, rows: 24 }
  }

  #write(text: string): Promise<void> {
    return this.#context.stdout.writeBytes(Buffer.from(text))
  }
}

/** They stay on the terminal here, above what comes back when the screen is left. */
function linesAbove(emulator: Emulator, count: number): string {
  if (emulator.isAlternate || count === 0) return ""
  const lines = emulator.text(count, "styled").slice(0, -emulator.size.rows)
  return lines.map((line) => `${line}\r\n`).join("")
}

/** Of a screen: down to the last line with anything on it. */
function lastLines(emulator: Emulator): string {
  const plain = emulator.text(0, "plain")
  const count = plain.findLastIndex((line) => line !== "") + 1
  const lines = emulator.text(0, "styled").slice(0, count)
  return lines.map((line) => `${line}\r\n`).join("")
}
