import { until } from "../../support/until.ts"

/** A program on a real pseudo-terminal. */
export class Terminal implements AsyncDisposable {
  readonly #program: Bun.Subprocess
  #screen = ""

  constructor(
    argv: string[],
    env: Record<string, string | undefined>,
    size: { cols: number; rows: number },
  ) {
    // Only a terminal that is made by the spawn itself controls the program (Bun 1.4.4): keys
    // become signals, and changes of the size are told.
    this.#program = Bun.spawn(argv, {
      env,
      terminal: {
        ...size,
        data: (_, bytes) => {
          this.#screen += Buffer.from(bytes).toString("utf8")
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
    this.#program.terminal?.resize(cols, rows)
  }

  async untilShows(pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${pattern} on the screen`, () => pattern.exec(this.#screen)).catch((error) => {
      throw new Error(`${error}; it shows ${JSON.stringify(this.#screen)}`)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill("SIGKILL")
    await this.#program.exited
    this.#program.terminal?.close()
  }
}
