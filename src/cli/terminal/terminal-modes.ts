const enterAlternate = "\x1b[?1049h"
const leaveAlternate = "\x1b[?1049l"

// Attributes, cursor, mouse, bracketed paste: harmless where nothing had changed them.
const plain = "\x1b[0m\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l"

/** What a program has done to the terminal, so that who leaves it in the middle can undo that. */
export class TerminalModes {
  #isAlternate = false

  see(bytes: Uint8Array): void {
    if (!bytes.includes(0x1b)) return
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
    const entered = text.lastIndexOf(enterAlternate)
    const left = text.lastIndexOf(leaveAlternate)
    if (entered !== left) this.#isAlternate = entered > left
  }

  undo(): string {
    return this.#isAlternate ? leaveAlternate + plain : plain
  }
}
