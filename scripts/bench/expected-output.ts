/**
 * What `seq 1 N` writes, compared piece by piece with what arrives. A comparison is one pass over
 * memory, far faster than the parsing before it, so it may run while the clock does.
 */
export class ExpectedOutput {
  readonly #bytes: Uint8Array
  readonly #text: string
  #received = 0

  constructor(output: Uint8Array) {
    this.#bytes = output
    this.#text = new TextDecoder("latin1").decode(output)
  }

  static ofSequence(lineCount: number): ExpectedOutput {
    const { stdout } = Bun.spawnSync(["seq", "1", String(lineCount)])
    return new ExpectedOutput(stdout)
  }

  get isComplete(): boolean {
    return this.#received === this.#bytes.length
  }

  startOver(): void {
    this.#received = 0
  }

  takeText(text: string): void {
    if (!this.#text.startsWith(text, this.#received)) this.#differs()
    this.#received += text.length
  }

  takeBytes(bytes: Uint8Array): void {
    const end = this.#received + bytes.length
    if (Buffer.compare(this.#bytes.subarray(this.#received, end), bytes) !== 0) this.#differs()
    this.#received = end
  }

  /** One line without its end, as websocketd sends it. */
  takeLine(line: string): void {
    this.takeText(line)
    if (this.#text.charCodeAt(this.#received) !== 10) this.#differs()
    this.#received += 1
  }

  #differs(): never {
    throw new Error(`what arrived is not what was written, within a piece at ${this.#received}`)
  }
}
