import { chownSync } from "node:fs"
import type { TerminalSize } from "../../../execution/spec.ts"
import type { ChildInput, ChildOutput } from "../../keeper/ports.ts"
import { duplicate } from "../libc.ts"
import { descriptorsOf, openMasters } from "../own-descriptors.ts"
import { PipeInput } from "./pipe-input.ts"
import { detachFromBun, quietTurns } from "./pipe-output.ts"

/**
 * The master side of a pseudo-terminal. Its output cannot be made to wait: what the child writes is
 * here at once, so the keeper takes it as fast as it comes.
 */
export class PseudoTerminal implements ChildOutput {
  /**
   * For Bun.spawn to make the terminal with. Only so does it become the child's controlling one:
   * a terminal made beforehand is passed on, but Ctrl-C and resizes would reach nobody.
   */
  readonly options: Bun.TerminalOptions
  readonly #arrived: Uint8Array[] = []
  readonly #openBefore = openMasters()
  #terminal: Bun.Terminal | null = null
  #number: number | null = null
  #input: ChildInput | null = null
  #ended = false
  #wakeReader: (() => void) | null = null

  constructor(size: TerminalSize) {
    this.options = {
      cols: size.cols,
      rows: size.rows,
      data: (_terminal, bytes) => {
        // The callback's buffer is not promised to stay.
        this.#arrived.push(new Uint8Array(bytes))
        this.#wakeReader?.()
      },
      exit: () => this.#end(),
    }
  }

  /** What Bun.spawn made of the options, in the same turn of the event loop. */
  attach(terminal: Bun.Terminal): void {
    this.#terminal = terminal
    const masters = [...openMasters()]
    const master = masters.find(([number]) => !this.#openBefore.has(number))
    this.#number = master?.[0] ?? null
    this.#input = master === undefined ? unbounded(terminal) : new PipeInput(duplicate(master[1]))
  }

  /** Makes another user its owner, as a login does: a program may want to open it by its name. */
  giveTo({ uid, gid }: { uid: number; gid: number }): void {
    if (this.#number !== null) chownSync(`/dev/pts/${this.#number}`, uid, gid)
  }

  async read(): Promise<Uint8Array | null> {
    while (true) {
      const bytes = this.#arrived.shift()
      if (bytes !== undefined) return bytes
      if (this.#ended) return null
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve
      })
    }
  }

  cancel(): void {
    this.#end()
  }

  async write(bytes: Uint8Array): Promise<number> {
    return (await this.#input?.write(bytes)) ?? 0
  }

  /** After it, what has arrived is still read, and then nothing. */
  handOver(): number | null {
    const isOpen = !this.#ended && this.#number !== null
    this.#input?.close() // before its descriptor means something else
    const kept = detachFromBun(isOpen ? descriptorsOf(`terminal ${this.#number}`) : [])
    if (kept !== null) this.#endAfter(quietTurns)
    return kept
  }

  resize(size: TerminalSize): void {
    if (!this.#ended) this.#terminal?.resize(size.cols, size.rows)
  }

  [Symbol.dispose](): void {
    this.#end()
    if (this.#terminal?.closed === false) this.#terminal.close()
  }

  #endAfter(turns: number): void {
    if (turns === 0) this.#end()
    else setImmediate(() => this.#endAfter(turns - 1))
  }

  #end(): void {
    this.#ended = true
    this.#input?.close()
    this.#wakeReader?.()
  }
}

/** Bun's own write takes everything into memory, and does not say when the child has read it. */
function unbounded(terminal: Bun.Terminal): ChildInput {
  return {
    async write(bytes) {
      terminal.write(bytes)
      return bytes.length
    },
    close: () => undefined,
  }
}

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
