import type { StreamName } from "../../execution/record.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { lineEnd } from "../../lib/vector/line-ends.ts"
import { PlainText } from "../../terminal/plain-text.ts"
import type { Context } from "../context.ts"
import { gapText } from "../terminal/show-output.ts"
import type { LogEvent } from "./log-chunk.ts"

export type LogPrinterOptions = {
  /** Null is both. */
  stream: StreamName | null
  since: Date | null
  timestamps: boolean
  /** Text alone. */
  isPlain?: boolean
}

/** Writes output to the descriptor it was written to, with its time before each line if wanted. */
export class LogPrinter {
  readonly #context: Pick<Context, "stdout" | "stderr">
  readonly #options: LogPrinterOptions
  readonly #plain = { stdout: new PlainText(), stderr: new PlainText() }
  readonly #isInsideLine = { stdout: false, stderr: false }

  constructor(context: Pick<Context, "stdout" | "stderr">, options: LogPrinterOptions) {
    this.#context = context
    this.#options = options
  }

  async print(event: LogEvent): Promise<void> {
    if (event.kind === "gap") {
      return this.#context.stderr.write(`cc-executor: ${gapText(event)}\n`)
    }
    const { stream, bytes, time } = event
    const { stream: only, since, timestamps, isPlain = false } = this.#options
    if (only !== null && only !== stream) return
    if (since !== null && new Date(time) < since) return
    const shown = isPlain ? Buffer.from(this.#plain[stream].add(bytes)) : bytes
    await this.#write(stream, timestamps ? this.#stamped(stream, shown, time) : shown)
  }

  /** Nothing follows: what did not end as a line is one all the same. */
  async finish(): Promise<void> {
    if (this.#options.isPlain !== true) return
    for (const stream of ["stdout", "stderr"] as const) {
      await this.#write(stream, Buffer.from(this.#plain[stream].finish()))
    }
  }

  async #write(stream: StreamName, bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#context[stream].writeBytes(bytes)
  }

  #stamped(stream: StreamName, bytes: Uint8Array, time: string): Uint8Array {
    const stamp = Buffer.from(`${onOneLine(time)} `) // a server may say anything
    const pieces: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      const found = bytes.indexOf(lineEnd, at)
      const end = found === -1 ? bytes.length : found + 1
      if (!this.#isInsideLine[stream]) pieces.push(stamp)
      pieces.push(bytes.subarray(at, end))
      this.#isInsideLine[stream] = found === -1
      at = end
    }
    return Buffer.concat(pieces)
  }
}
