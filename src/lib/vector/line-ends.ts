import {
  block,
  br,
  brIf,
  type Code,
  compile,
  get,
  i8x16Bitmask,
  i8x16Eq,
  i8x16Splat,
  i32Add,
  i32Const,
  i32GeU,
  i32Popcnt,
  loop,
  set,
  v128Load,
} from "./wasm.ts"

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

/** How often a byte occurs. The cost depends on the length only. */
export function countByte(bytes: Uint8Array, byte: number): number {
  if (bytes.length < worthwhileBytes) return countInWords(bytes, byte)
  count ??= createCount()
  return count(bytes, byte)
}

type Count = (bytes: Uint8Array, byte: number) => number
let count: Count | undefined

// Below this, copying into the module's memory costs more than it saves.
const worthwhileBytes = 256
const blockBytes = 64
const windowBytes = 65_536

const fromLocal = 0
const endLocal = 1
const byteLocal = 2
const foundLocal = 3
const wantedLocal = 4

const sixteen = (offset: number): Code => [
  ...get(fromLocal),
  ...v128Load(offset),
  ...get(wantedLocal),
  ...i8x16Eq,
  ...i8x16Bitmask,
  ...i32Popcnt,
  ...i32Add,
]

/** From `from` to `end`, which are whole blocks apart. */
const countBlocks: Code = [
  ...get(byteLocal),
  ...i8x16Splat,
  ...set(wantedLocal),
  ...block(
    loop(
      [...get(fromLocal), ...get(endLocal), ...i32GeU, ...brIf(1)],
      [...get(foundLocal), ...sixteen(0), ...sixteen(16), ...sixteen(32), ...sixteen(48)],
      set(foundLocal),
      [...get(fromLocal), ...i32Const(blockBytes), ...i32Add, ...set(fromLocal)],
      br(0),
    ),
  ),
  ...get(foundLocal),
]

function createCount(): Count {
  const written = { parameters: 3, i32Locals: 1, v128Locals: 1, body: countBlocks }
  const compiled = compile(written, windowBytes)
  if (compiled === null) return countInWords // four times slower
  const { run, memory } = compiled
  return (bytes, byte) => {
    let total = 0
    const blocksEnd = bytes.length - (bytes.length % blockBytes)
    for (let at = 0; at < blocksEnd; at += windowBytes) {
      const piece = bytes.subarray(at, Math.min(at + windowBytes, blocksEnd))
      memory.set(piece)
      total += run(0, piece.length, byte)
    }
    return total + countInWords(bytes.subarray(blocksEnd), byte)
  }
}

/**
 * Four bytes at a time, because one at a time is as slow as hashing, and `indexOf` in a loop is
 * fifty times slower where the byte is frequent.
 */
export function countInWords(bytes: Uint8Array, byte: number): number {
  const pattern = Math.imul(byte, 0x01010101)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const runsEnd = bytes.length - (bytes.length % runBytes)
  let at = 0
  let total = 0
  while (at < runsEnd) {
    const from = at
    const stop = Math.min(runsEnd, from + maxRunBytes)
    let others = 0 // four counters of a byte each
    for (; at < stop; at += runBytes) {
      others +=
        othersIn(view.getInt32(at, true), pattern) +
        othersIn(view.getInt32(at + 4, true), pattern) +
        othersIn(view.getInt32(at + 8, true), pattern) +
        othersIn(view.getInt32(at + 12, true), pattern)
      others |= 0
    }
    const counted =
      (others & 255) + ((others >>> 8) & 255) + ((others >>> 16) & 255) + (others >>> 24)
    total += at - from - counted
  }
  for (; at < bytes.length; at += 1) if (bytes[at] === byte) total += 1
  return total
}

const runBytes = 16
const maxRunBytes = 63 * runBytes // a counter of one byte takes 255 words, and these are 252

/** A 1 in each byte of the result where the word's byte is not the pattern's. */
function othersIn(word: number, pattern: number): number {
  const difference = word ^ pattern
  return ((((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) >>> 7) & 0x01010101
}
