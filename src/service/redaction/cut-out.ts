import { joined } from "./joined.ts"
import type { Span } from "./stream-redactor.ts"

/** The words without the spans, which lie in the words' UTF-8 with one byte between two words. */
export function cutOut(words: readonly string[], spans: readonly Span[]): string[] {
  let from = 0
  let next = 0 // the first span that does not end before this word
  return words.map((word) => {
    const bytes = new TextEncoder().encode(word)
    const to = from + bytes.length
    const pieces: Uint8Array[] = []
    let plain = from
    while (next < spans.length) {
      const span = spans[next]
      if (span === undefined || span.from >= to) break
      if (span.from > plain) pieces.push(bytes.subarray(plain - from, span.from - from))
      // Only in the first word that it touches; before that there is at most the space.
      if (span.from >= from - 1) pieces.push(span.replacement)
      plain = Math.max(plain, Math.min(to, span.to))
      if (span.to > to) break // it goes on in the next word
      next += 1
    }
    const isWhole = pieces.length === 0 && plain === from
    if (to > plain) pieces.push(bytes.subarray(plain - from))
    from = to + 1
    return isWhole ? word : new TextDecoder().decode(joined(pieces))
  })
}
