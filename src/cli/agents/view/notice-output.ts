import type { Output } from "../../context.ts"
import { plainText } from "../../terminal/terminal-text.ts"

/** Standard error, whose lines go to whoever has the terminal, as long as somebody has it. */
export class NoticeOutput implements Output {
  readonly #output: Output
  #show: ((text: string) => void) | null = null

  constructor(output: Output) {
    this.#output = output
  }

  get isTty(): boolean {
    return this.#output.isTty
  }

  width(): number | null {
    return this.#output.width()
  }

  async write(text: Parameters<Output["write"]>[0]): Promise<void> {
    if (this.#show === null) await this.#output.write(text)
    else this.#show(plainText(text).trimEnd())
  }

  writeBytes(bytes: Uint8Array): Promise<void> {
    return this.#output.writeBytes(bytes)
  }

  /** Until the function that it answers is called. */
  redirect(show: (text: string) => void): () => void {
    this.#show = show
    return () => {
      this.#show = null
    }
  }
}
