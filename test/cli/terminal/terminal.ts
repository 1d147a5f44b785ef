import { Emulator } from "../../../src/terminal/emulator/emulator.ts"
import { cellsOf } from "../../support/tmux.ts"
import { until } from "../../support/until.ts"

/** A program on a real pseudo-terminal. */
export class Terminal implements AsyncDisposable {
  readonly #program: Bun.Subprocess
  readonly #emulator: Emulator
  #screen = ""

  constructor(
    argv: string[],
    env: Record<string, string | undefined>,
    size: { cols: number; rows: number },
  ) {
    this.#emulator = new Emulator(size)
    // Only a terminal that is made by the spawn itself controls the program (Bun 1.4.4): keys
    // become signals, and changes of the size are told.
    this.#program = Bun.spawn(argv, {
      env,
      terminal: {
        ...size,
        data: (_, bytes) => {
          this.#screen += Buffer.from(bytes).toString("utf8")
          this.#emulator.write(bytes.slice())
        },
      },
    })
  }

  /** Everything that was ever shown. */
  get screen(): string {
    return this.#screen
  }

  get pid(): number {
    return this.#program.pid
  }

  get exited(): Promise<number> {
    return this.#program.exited
  }

  type(keys: string): void {
    this.#program.terminal?.write(keys)
  }

  resize(cols: number, rows: number): void {
    this.#emulator.resize({ cols, rows })
    this.#program.terminal?.resize(cols, rows)
  }

  async untilShows(pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${pattern} on the screen`, () => pattern.exec(this.#screen)).catch((error) => {
      throw new Error(`${error}; it shows ${JSON.stringify(this.#screen)}`)
    })
  }

  /** The lines that somebody sees now, without the empty ones at the end. */
  get looks(): string {
    return this.#emulator.text(0, "plain").join("\n").trimEnd()
  }

  get cells(): string[] {
    return cellsOf(this.#emulator)
  }

  async untilLooks(pattern: RegExp): Promise<RegExpExecArray> {
    const look = () => pattern.exec(`${this.looks}\n`) ?? pattern.exec(`${this.looks} `)
    return until(`${pattern} on the screen`, look).catch((error) => {
      throw new Error(`${error}; it looks like ${JSON.stringify(this.looks)}`)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill("SIGKILL")
    await this.#program.exited
    this.#program.terminal?.close()
  }
}
