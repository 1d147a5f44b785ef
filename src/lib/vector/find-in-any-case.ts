import {
  block,
  br,
  brIf,
  type Code,
  compile,
  get,
  i8x16AllTrue,
  i8x16Bitmask,
  i8x16Eq,
  i8x16Splat,
  i32Add,
  i32And,
  i32Const,
  i32Ctz,
  i32Eqz,
  i32GtU,
  i32Load8U,
  i32LtU,
  i32Sub,
  leave,
  loop,
  set,
  tee,
  v128And,
  v128Load,
  v128Or,
} from "./wasm.ts"

/** Where a needle is in bytes, from a place on; -1 if nowhere. */
export type Find = (bytes: Uint8Array, from: number) => number

/**
 * Finds a text whether its letters are large or small: those without accents; everything else is
 * found as it is. The cost depends on the length of the bytes, hardly on what is in them.
 */
export function findInAnyCase(needle: Uint8Array): Find {
  search ??= createSearch()
  if (search === "unavailable" || needle.length > mostNeedleBytes) return findByPattern(needle)
  return search(needle)
}

const mostNeedleBytes = 4096
const windowBytes = 65_536 + mostNeedleBytes
const letterBit = 0x20 // what a small letter has and a large one has not
// Where things are in the memory; what is read past an end is never believed.
const neededAt = 0
const ignoredAt = mostNeedleBytes
const textAt = 2 * mostNeedleBytes
const memoryBytes = textAt + windowBytes + 64

type Search = (needle: Uint8Array) => Find
let search: Search | "unavailable" | undefined

function createSearch(): Search | "unavailable" {
  const written = { parameters: 3, i32Locals: 3, v128Locals: 4, body }
  const compiled = compile(written, memoryBytes)
  if (compiled === null) return "unavailable"
  const { run, memory } = compiled
  // What the memory holds: the same bytes are asked for the next match after each.
  let held: { by: Find; bytes: Uint8Array; from: number } | null = null
  return (needle) => {
    const { needed, ignored } = spelled(needle)
    const find: Find = (bytes, from) => {
      let at = from
      while (bytes.length - at >= needle.length) {
        const isHeld = held?.by === find && held.bytes === bytes && at >= held.from
        if (held === null || !isHeld || at - held.from > windowBytes - needle.length) {
          memory.set(needed, neededAt)
          memory.set(ignored, ignoredAt)
          memory.set(bytes.subarray(at, at + windowBytes), textAt)
          held = { by: find, bytes, from: at }
        }
        const { from: windowAt } = held
        const end = textAt + Math.min(windowBytes, bytes.length - windowAt)
        const found = run(textAt + at - windowAt, end, needle.length)
        if (found !== end) return windowAt + found - textAt
        at = windowAt + (end - textAt) - needle.length + 1
      }
      return -1
    }
    return find
  }
}

/** In whole blocks, of which the rest is any byte: all its bits are ignored. */
function spelled(needle: Uint8Array): { needed: Uint8Array; ignored: Uint8Array } {
  const length = Math.ceil(needle.length / 16) * 16
  const ignored = new Uint8Array(length).fill(0xff)
  const needed = new Uint8Array(length).fill(0xff)
  for (const [index, byte] of needle.entries()) {
    const small = byte | letterBit
    const isLetter = small >= 0x61 && small <= 0x7a
    ignored[index] = isLetter ? letterBit : 0
    needed[index] = isLetter ? small : byte
  }
  return { needed, ignored }
}

const from = 0
const end = 1
const length = 2
const candidates = 3
const candidate = 4
const compared = 5
const first = 6
const firstIgnored = 7
const last = 8
const lastIgnored = 9

const added = (one: Code, other: Code): Code => [...one, ...other, ...i32Add]
const isPastEnd = (place: Code): Code => [...added(place, get(length)), ...get(end), ...i32GtU]

const sixteen = (place: Code, table: number): Code => [...place, ...i32Load8U(table), ...i8x16Splat]
const lastPlace: Code = [...get(length), ...i32Const(1), ...i32Sub]

const sameAs = (place: Code, ignored: Code, wanted: Code): Code => [
  ...place,
  ...v128Load(0),
  ...ignored,
  ...v128Or,
  ...wanted,
  ...i8x16Eq,
]

/** Sixteen places at a time, where the first and the last byte fit; there, all of them are. */
const body: Code = [
  [...sixteen(i32Const(0), neededAt), ...set(first)],
  [...sixteen(i32Const(0), ignoredAt), ...set(firstIgnored)],
  [...sixteen(lastPlace, neededAt), ...set(last)],
  [...sixteen(lastPlace, ignoredAt), ...set(lastIgnored)],
  block(
    loop(
      [...isPastEnd(get(from)), ...brIf(1)],
      sameAs(get(from), get(firstIgnored), get(first)),
      sameAs(added(get(from), lastPlace), get(lastIgnored), get(last)),
      [...v128And, ...i8x16Bitmask, ...set(candidates)],
      block(
        loop(
          [...get(candidates), ...i32Eqz, ...brIf(1)],
          [...added(get(from), [...get(candidates), ...i32Ctz]), ...tee(candidate)],
          [...get(length), ...i32Add, ...get(end), ...i32GtU, ...brIf(3)],
          [...i32Const(0), ...set(compared)],
          block(
            loop(
              sameAs(
                added(get(candidate), get(compared)),
                [...get(compared), ...v128Load(ignoredAt)],
                [...get(compared), ...v128Load(neededAt)],
              ),
              [...i8x16AllTrue, ...i32Eqz, ...brIf(1)],
              [...added(get(compared), i32Const(16)), ...tee(compared)],
              [...get(length), ...i32LtU, ...brIf(0)],
              [...get(candidate), ...leave],
            ),
          ),
          // Without the lowest of them.
          [...get(candidates), ...get(candidates), ...i32Const(1), ...i32Sub, ...i32And],
          set(candidates),
          br(0),
        ),
      ),
      [...added(get(from), i32Const(16)), ...set(from)],
      br(0),
    ),
  ),
  get(end),
].flat()

/** A character of Latin-1 stands for each byte. Up to four times slower. */
export function findByPattern(needle: Uint8Array): Find {
  const text = latin1(needle).replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`)
  const anyCase = text.replaceAll(/[A-Za-z]/g, (letter) => {
    return `[${letter.toLowerCase()}${letter.toUpperCase()}]`
  })
  const pattern = new RegExp(anyCase, "g")
  let read: { bytes: Uint8Array; text: string } | null = null
  return (bytes, at) => {
    if (read?.bytes !== bytes) read = { bytes, text: latin1(bytes) }
    pattern.lastIndex = at
    return pattern.exec(read.text)?.index ?? -1
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
}
