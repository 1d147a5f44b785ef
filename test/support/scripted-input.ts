import type { ChildInput } from "../../src/service/keeper/ports.ts"

/** A pipe that takes what its reader makes room for. */
export class ScriptedInput implements ChildInput {
  taken = ""
  isClosed = false
  #roomBytes: number
  #wake: () => void = () => undefined

  constructor(roomBytes = Infinity) {
    this.#roomBytes = roomBytes
  }

  makeRoom(bytes: number): void {
    this.#roomBytes += bytes
    this.#wake()
  }

  async write(bytes: Uint8Array): Promise<number> {
    let written = 0
    while (written < bytes.length && !this.isClosed) {
      const piece = bytes.subarray(written, written + Math.min(this.#roomBytes, bytes.length))
      this.taken += new TextDecoder().decode(piece)
      written += piece.length
      this.#roomBytes -= piece.length
      if (written < bytes.length) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return written
  }

  close(): void {
    this.isClosed = true
    this.#wake()
  }
}
