import { countByte } from "./vector/count-byte.ts"

export const lineEnd = 0x0a

export function countLineEnds(bytes: Uint8Array): number {
  return countByte(bytes, lineEnd)
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
