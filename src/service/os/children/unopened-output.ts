import { closeSync } from "node:fs"
import type { ChildOutput } from "../../keeper/ports.ts"
import { PipeOutput } from "./pipe-output.ts"

/**
 * An output that is left as it is until the first read. Bun reads ahead of those who ask, and what
 * it has read nobody else can: not the previous program either, should it have to go on.
 */
export class UnopenedOutput implements ChildOutput {
  /** Null when it was closed or handed over before anybody has read. */
  #fd: number | null
  #opened: PipeOutput | null = null

  constructor(fd: number) {
    this.#fd = fd
  }

  async read(): Promise<Uint8Array | null> {
    const fd = this.#take()
    if (fd !== null) this.#opened = new PipeOutput(fd)
    return (await this.#opened?.read()) ?? null
  }

  cancel(): void {
    const fd = this.#take()
    if (fd === null) this.#opened?.cancel()
    else closeSync(fd)
  }

  handOver(): number | null {
    return this.#take() ?? this.#opened?.handOver() ?? null
  }

  #take(): number | null {
    const fd = this.#fd
    this.#fd = null
    return fd
  }
}
