import { type Key, keysIn } from "../../terminal/pressed-keys.ts"

/** A key, or text that was pasted. */
export type Typed = Key | { pasted: string }

const pasteStart = "\x1b[200~"
const pasteEnd = "\x1b[201~"
/** As much as a turn may have, and some more: a paste without an end does not grow for ever. */
const mostPasted = 4 * 1024 * 1024

// Escape alone is a key.
const unfinished = new RegExp(String.raw`\x1b\[[0-?]{0,16}[ -/]{0,16}$`)

/** Reads keys and pastes from what a terminal sends, in whatever pieces that comes. */
export class TypedInput {
  readonly #decoder = new TextDecoder()
  /** The beginning of what a key sends, where the rest has not come yet. */
  #begun = ""
  /** Null unless a paste has begun and not ended. */
  #paste: string | null = null

  read(bytes: Uint8Array): Typed[] {
    const typed: Typed[] = []
    let rest = this.#begun + this.#decoder.decode(bytes, { stream: true })
    this.#begun = ""
    while (rest !== "") {
      if (this.#paste === null) {
        const at = rest.indexOf(pasteStart)
        if (at === -1) this.#begun = unfinished.exec(rest)?.[0] ?? ""
        typed.push(...keysIn(rest.slice(0, at === -1 ? rest.length - this.#begun.length : at)))
        if (at === -1) break
        this.#paste = ""
        rest = rest.slice(at + pasteStart.length)
        continue
      }
      const pasted = this.#paste + rest
      // The mark may have come in two pieces.
      const at = pasted.indexOf(pasteEnd, Math.max(0, this.#paste.length - pasteEnd.length))
      if (at === -1) {
        this.#paste = pasted.slice(0, mostPasted)
        break
      }
      typed.push({ pasted: pasted.slice(0, at).replace(/\r\n?/g, "\n") })
      this.#paste = null
      rest = pasted.slice(at + pasteEnd.length)
    }
    return typed
  }
}
