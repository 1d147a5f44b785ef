/** Which of the 256 bytes: 1 at those that belong. */
export type ByteSet = Uint8Array

export function bytesOf(...ranges: ReadonlyArray<readonly [first: number, last: number]>): ByteSet {
  const set = new Uint8Array(256)
  for (const [first, last] of ranges) set.fill(1, first, last + 1)
  return set
}

export function oneByte(byte: number): ByteSet {
  return bytesOf([byte, byte])
}

export function without(set: ByteSet): ByteSet {
  return set.map((has) => 1 - has)
}

export function union(sets: readonly ByteSet[]): ByteSet {
  const all = new Uint8Array(256)
  for (const set of sets) for (let byte = 0; byte < 256; byte++) all[byte] ||= set[byte] ?? 0
  return all
}

export function isEmpty(set: ByteSet): boolean {
  return !set.includes(1)
}

/** Every ASCII letter in both its cases, where it is there in one. */
export function inBothCases(set: ByteSet): ByteSet {
  const both = set.slice()
  for (let upper = 65; upper <= 90; upper++) {
    const lower = upper + 32
    if (set[upper] === 1 || set[lower] === 1) both[upper] = both[lower] = 1
  }
  return both
}

export const digits: ByteSet = bytesOf([48, 57])
export const wordBytes: ByteSet = bytesOf([48, 57], [65, 90], [95, 95], [97, 122])
export const spaces: ByteSet = bytesOf([9, 13], [32, 32])
export const anyByte: ByteSet = bytesOf([0, 255])
