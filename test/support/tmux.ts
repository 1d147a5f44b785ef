import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TerminalSize } from "../../src/execution/spec.ts"
import { Emulator } from "../../src/terminal/emulator/emulator.ts"
import { until } from "./until.ts"

export const noTmux = Bun.which("tmux") === null ? "needs tmux" : null

/** A pane of tmux that shows bytes as a program would have written them. */
export class Tmux implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "tmux-"))
  #size: TerminalSize
  #shown = 0

  constructor(size: TerminalSize) {
    this.#size = size
    // Each file is shown once the one before it was.
    const loop = `stty raw -echo -opost; n=1
      while :; do
        while [ ! -e ${this.#folder}/$n.ready ]; do sleep 0.02; done
        cat ${this.#folder}/$n; n=$((n+1))
      done`
    const { cols, rows } = size
    const options = ["new-session", "-d", "-x", `${cols}`, "-y", `${rows}`]
    this.#run("-f", "/dev/null", ...options, "sh", "-c", loop)
    this.#run("set-option", "-g", "status", "off")
    this.#run("set-option", "-g", "window-size", "manual")
    this.resize(size)
  }

  /** Comes back when all of it is on the pane. */
  async show(bytes: Uint8Array): Promise<void> {
    this.#shown += 1
    const mark = `shown-${this.#shown}`
    const path = join(this.#folder, `${this.#shown}`)
    writeFileSync(path, Buffer.concat([bytes, Buffer.from(`\x1b]2;${mark}\x1b\\`)]))
    writeFileSync(`${path}.ready`, "")
    await until(mark, () => this.#run("display-message", "-p", "#{pane_title}").trim() === mark)
  }

  resize(size: TerminalSize): void {
    this.#size = size
    this.#run("resize-window", "-x", `${size.cols}`, "-y", `${size.rows}`)
  }

  cells(): string[] {
    using emulator = new Emulator(this.#size)
    const lines = this.#run("capture-pane", "-p", "-e", "-N").replace(/\n$/, "").split("\n")
    // Styles go on from line to line; drawn lines are those of the second character set.
    emulator.write(Buffer.from(`\x1b)0${lines.join("\r\n")}`))
    return cellsOf(emulator)
  }

  cursor(): string {
    const place = this.#run("display-message", "-p", "#{cursor_x},#{cursor_y},#{cursor_flag}")
    const [x = "", y = "", flag = ""] = place.trim().split(",")
    // Behind the last column, the next character begins a line.
    return `${Math.min(Number(x), this.#size.cols - 1)},${y},${flag}`
  }

  [Symbol.dispose](): void {
    this.#run("kill-server")
    if (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true })
  }

  #run(...args: string[]): string {
    const socket = join(this.#folder, "socket")
    const { stdout, stderr, exitCode } = Bun.spawnSync(["tmux", "-u", "-S", socket, ...args], {
      env: { ...process.env, TERM: "xterm-256color", LC_ALL: "C.UTF-8" },
    })
    if (exitCode !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr.toString()}`)
    return stdout.toString()
  }
}

const shownFg = 0x04000000 | 0x08000000 | 0x10000000 | 0x03ffffff
const shownBg = 0x04000000 | 0x08000000 | 0x03ffffff

/** Row by row, every cell up to the last character with its character, colours and style. */
export function cellsOf(emulator: Emulator): string[] {
  const { active } = emulator.xterm.terminal.buffer
  return Array.from({ length: emulator.size.rows }, (_, y) => {
    const line = emulator.xterm.core.buffer.lines.get(active.baseY + y)
    const cells = Array.from({ length: emulator.size.cols }, (_empty, x) => {
      const cell = active.getLine(active.baseY + y)?.getCell(x)
      if (cell === undefined || line === undefined) return "?"
      const { fg = 0, bg = 0 } = { fg: Reflect.get(cell, "fg"), bg: Reflect.get(cell, "bg") }
      const chars = cell.getChars()
      if (cell.getWidth() === 0) return ""
      const isBlank = chars === "" || chars === " "
      const color = isBlank && !cell.isInverse() && !cell.isUnderline() ? 0 : fg & shownFg
      const style = isBlank ? bg & 0x03ffffff : bg & shownBg
      const text = isBlank ? " " : chars
      return color === 0 && style === 0
        ? text
        : `${text}<${(color >>> 0).toString(16)},${style.toString(16)}>`
    })
    // tmux does not tell the colour of what was erased behind the last character.
    return cells.join("").replace(/(?: |<0,[\da-f]+>)+$/, "")
  })
}
