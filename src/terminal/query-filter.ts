import { isQuery } from "./queries.ts"
import { SequenceLexer } from "./sequence-lexer.ts"

/** What a terminal answers with a text of its own, if it has one. */
const enquiry = 0x05

/**
 * Takes out of the output of a terminal what asks it something: the service answers that, and the
 * terminal that the output is shown on would answer it again. A sequence that is not whole yet is
 * held back.
 */
export class QueryFilter {
  readonly #lexer = new SequenceLexer()

  /** Parts of the chunk, or of what was held back before; valid as long as the chunk is. */
  filter(chunk: Uint8Array): Uint8Array {
    const kept: Uint8Array[] = []
    this.#lexer.lex(chunk, (kind, bytes, from, to) => {
      if (kind === "sequence" && isQuery(bytes, from, to)) return
      const part = bytes.subarray(from, to)
      kept.push(kind === "text" && part.includes(enquiry) ? part.filter(isNoEnquiry) : part)
    })
    const [only] = kept
    return kept.length === 1 && only !== undefined ? only : Buffer.concat(kept)
  }

  /** What is still held back when nothing follows: never a whole query. */
  finish(): Uint8Array {
    return this.#lexer.finish()
  }
}

function isNoEnquiry(byte: number): boolean {
  return byte !== enquiry
}
