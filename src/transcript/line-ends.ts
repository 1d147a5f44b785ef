/**
 * How many line ends there are. Four bytes at a time, because one at a time is as slow as hashing,
 * and `indexOf` in a loop is fifty times slower where lines are short. The cost depends on the
 * length only.
 */
export function countLineEnds(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocksEnd = bytes.length - (bytes.length % blockBytes)
  let at = 0
  let count = 0
  while (at < blocksEnd) {
    const from = at
    const stop = Math.min(blocksEnd, from + maxRunBytes)
    let others = 0 // four counters of a byte each
    for (; at < stop; at += blockBytes) {
      others +=
        othersIn(view.getInt32(at, true)) +
        othersIn(view.getInt32(at + 4, true)) +
        othersIn(view.getInt32(at + 8, true)) +
        othersIn(view.getInt32(at + 12, true))
      others |= 0
    }
    const counted =
      (others & 255) + ((others >>> 8) & 255) + ((others >>> 16) & 255) + (others >>> 24)
    count += at - from - counted
  }
  for (; at < bytes.length; at += 1) if (bytes[at] === lineEnd) count += 1
  return count
}

export const lineEnd = 0x0a

const blockBytes = 16
const maxRunBytes = 63 * blockBytes // a counter of one byte takes 255 words, and these are 252

/** A 1 in each byte of the result where the word's byte is not a line end. */
function othersIn(word: number): number {
  const difference = word ^ 0x0a0a0a0a
  return ((((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) >>> 7) & 0x01010101
}

/** Where the bytes after the given number of line ends begin; their length when there are fewer. */
export function afterLineEnds(bytes: Uint8Array, lines: number): number {
  let at = 0
  for (let passed = 0; passed < lines; passed += 1) {
    const found = bytes.indexOf(lineEnd, at)
    if (found === -1) return bytes.length
    at = found + 1
  }
  return at
}
