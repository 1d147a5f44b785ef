import type { ChildInput } from "../../keeper/ports.ts"

const endOfTransmission = 4
const lineFeed = 10

/** What is typed on a terminal. It has no end of input but the character that says so. */
export class TerminalInput implements ChildInput {
  readonly #master: Pick<ChildInput, "write">
  #isInsideLine: boolean

  constructor(master: Pick<ChildInput, "write">, isInsideLine = false) {
    this.#master = master
    this.#isInsideLine = isInsideLine
  }

  get isInsideLine(): boolean {
    return this.#isInsideLine
  }

  async write(bytes: Uint8Array): Promise<number> {
    const taken = await this.#master.write(bytes)
    if (taken > 0) this.#isInsideLine = bytes[taken - 1] !== lineFeed
    return taken
  }

  /** Inside a line, the first such character only hands the child what was typed so far. */
  close(): void {
    const times = this.#isInsideLine ? 2 : 1
    this.#isInsideLine = false
    // What does not fit before the terminal is closed has nobody left to read it.
    void this.#master.write(new Uint8Array(times).fill(endOfTransmission))
  }
}
