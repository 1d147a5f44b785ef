/** Looks for bytes in a stream that comes in pieces, whatever lies across their borders. */
export interface ByteSearch {
  push(piece: Uint8Array): void
  /** Where in the stream the first match begins, of all that was pushed; null without one. */
  result(): number | null
}

const minBatchBytes = 256 * 1024

/**
 * Pieces are gathered and searched a batch at a time, and only what could be the beginning of a
 * match is carried over. So a needle of megabytes in a stream of single bytes costs no more than a
 * short one.
 */
export function createByteSearch(needle: Uint8Array): ByteSearch {
  const wanted = Buffer.from(needle)
  const carriedBytes = Math.max(0, wanted.length - 1)
  let batch = Buffer.alloc(0) // made at the first piece: many streams have none
  let filled = 0
  let batchOffset = 0 // in the stream
  let found: number | null = null

  const search = (): boolean => {
    const index = batch.subarray(0, filled).indexOf(wanted)
    if (index !== -1) {
      found = batchOffset + index
      batch = Buffer.alloc(0)
      return true
    }
    const kept = Math.min(filled, carriedBytes)
    batch.copyWithin(0, filled - kept, filled)
    batchOffset += filled - kept
    filled = kept
    return false
  }

  return {
    push(piece) {
      if (found !== null) return
      if (batch.length === 0)
        batch = Buffer.alloc(carriedBytes + Math.max(wanted.length, minBatchBytes))
      for (let at = 0; at < piece.length; ) {
        const taken = Math.min(piece.length - at, batch.length - filled)
        batch.set(piece.subarray(at, at + taken), filled)
        filled += taken
        at += taken
        if (filled === batch.length && search()) return
      }
    },
    result() {
      if (found === null && filled > 0) search()
      return found
    },
  }
}
