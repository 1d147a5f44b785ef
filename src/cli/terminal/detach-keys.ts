import { option } from "../arguments.ts"
import { UsageFailure } from "../failure.ts"
import { keyBytes } from "./key-names.ts"

/** In the way of nothing that is typed daily; other programs use it to leave a console, too. */
const defaultKeys = "ctrl-],ctrl-]"

export const detachKeysOption = {
  "detach-keys": option("KEYS", `keys that detach from a terminal (${defaultKeys}), or none`),
}

/** The bytes that detach; null where nothing does. */
export function detachSequence(keys = defaultKeys): Uint8Array | null {
  if (keys === "none") return null
  const sequence = Buffer.from(
    keys
      .split(",")
      .map((key) => keyBytes(key))
      .join(""),
  )
  if (sequence.length > 0) return sequence
  throw new UsageFailure("--detach-keys: name at least one key, or none.")
}

type Keys = { forward: Uint8Array; isDetach: boolean }

/**
 * Looks for a sequence of keys in what is typed. What may be its beginning is held back until the
 * next key, or until `release`: only then is it known whether it was the child's. Nothing typed
 * after the sequence is passed on.
 */
export class DetachKeys {
  readonly #sequence: Uint8Array
  #matched = 0

  constructor(sequence: Uint8Array) {
    this.#sequence = sequence
  }

  /** Whether keys are held back. */
  get isPending(): boolean {
    return this.#matched > 0
  }

  feed(typed: Uint8Array): Keys {
    const forward: number[] = []
    for (const key of typed) {
      forward.push(...this.#mismatched(key))
      if (this.#matched < this.#sequence.length) continue
      this.#matched = 0
      return { forward: Uint8Array.from(forward), isDetach: true }
    }
    return { forward: Uint8Array.from(forward), isDetach: false }
  }

  /** No other key came for a while: what was held back is the child's. */
  release(): Uint8Array {
    const held = this.#sequence.slice(0, this.#matched)
    this.#matched = 0
    return held
  }

  /** What this key shows not to belong to the sequence. */
  #mismatched(key: number): number[] {
    const typed = [...this.#sequence.subarray(0, this.#matched), key]
    // The longest end of what was typed that the sequence begins with.
    for (let start = 0; start < typed.length; start += 1) {
      if (typed.slice(start).every((byte, at) => byte === this.#sequence[at])) {
        this.#matched = typed.length - start
        return typed.slice(0, start)
      }
    }
    this.#matched = 0
    return typed
  }
}
