const controlP = 0x10
const controlQ = 0x11

export type Keys = { forward: Uint8Array; isDetach: boolean }

/**
 * Looks for Ctrl-P Ctrl-Q in what is typed. A Ctrl-P waits for the key after it: only then is it
 * known whether it was the child's. Nothing typed after the two is passed on.
 */
export class DetachKeys {
  #isPending = false

  feed(typed: Uint8Array): Keys {
    const forward: number[] = []
    for (const key of typed) {
      if (this.#isPending && key === controlQ) {
        this.#isPending = false
        return { forward: Uint8Array.from(forward), isDetach: true }
      }
      if (this.#isPending) forward.push(controlP)
      this.#isPending = key === controlP
      if (!this.#isPending) forward.push(key)
    }
    return { forward: Uint8Array.from(forward), isDetach: false }
  }
}
