import {
  block,
  br,
  brIf,
  type Code,
  compile,
  get,
  i8x16Add,
  i8x16Bitmask,
  i8x16Eq,
  i8x16LtU,
  i8x16Swizzle,
  i32Add,
  i32And,
  i32Const,
  i32Eqz,
  i32GeU,
  i32GtU,
  i32Load8U,
  i32Popcnt,
  i32Shl,
  i32ShrU,
  i64Load,
  i64Store,
  loop,
  set,
  tee,
  v128And,
  v128AnyTrue,
  v128Bitselect,
  v128Bytes,
  v128Load,
  v128Or,
  v128Store,
  type WasmFunction,
  when,
} from "./wasm.ts"

/** A text that goes into a JSON document as a string, between what comes before and after it. */
export function withJsonText(before: string, utf8: Uint8Array, after: string): string {
  escaper ??= createEscaper()
  const aroundBytes = (before.length + after.length) * mostBytesPerUnit
  const isFitting = utf8.length <= mostBytes && aroundBytes <= mostAroundBytes
  if (escaper === "unavailable" || !isFitting) {
    return before + JSON.stringify(textOf(utf8)) + after
  }
  return escaper(before, utf8, after)
}

const mostBytes = 65_536 + 64
const mostAroundBytes = 4096
const mostBytesPerUnit = 3 // of a string, in UTF-8
const longestSpelling = 6 // "\u001b"
// Where things are in the memory.
const spreadAt = 0 // 256 × 16: for a mask of eight bytes, which byte goes where
const spelledAt = 4096 // 256 × 8: a byte's spelling, and in the last place its length
const shortAt = 6144 // 16: the letter of `\n` and its like
const inputAt = 6160
const outputAt = inputAt + mostBytes
const memoryBytes = outputAt + mostBytes * longestSpelling + mostAroundBytes + 64

type Escaper = (before: string, utf8: Uint8Array, after: string) => string
let escaper: Escaper | "unavailable" | undefined

function createEscaper(): Escaper | "unavailable" {
  const compiled = compile(escape, memoryBytes)
  if (compiled === null) return "unavailable" // JSON.stringify does it, three times slower
  const { run, memory } = compiled
  const bytes = Buffer.from(memory.buffer)
  writeTables(bytes)
  return (before, utf8, after) => {
    bytes.set(utf8, inputAt)
    let end = outputAt + bytes.write(`${before}"`, outputAt, "utf8")
    end = run(inputAt, inputAt + utf8.length, end)
    end += bytes.write(`"${after}`, end, "utf8")
    return bytes.toString("utf8", outputAt, end)
  }
}

function textOf(utf8: Uint8Array): string {
  return Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString("utf8")
}

const backslash = 0x5c
const quote = 0x22
const firstPlain = 0x20
const nowhere = 0x80 // an index that a swizzle answers with 0

const from = 0
const end = 1
const to = 2
const mask = 3
const stop = 4
const bytes = 5
const spelled = 6

const advance = (local: number, amount: Code): Code => [
  ...get(local),
  ...amount,
  ...i32Add,
  ...set(local),
]

/** One by one, from `from` to `stop`. */
const eachByte: Code = block(
  loop(
    get(from),
    get(stop),
    i32GeU,
    brIf(1),
    get(from),
    i32Load8U(0),
    i32Const(3),
    i32Shl,
    set(mask), // where its spelling is
    get(to),
    get(mask),
    i64Load(spelledAt),
    i64Store(0),
    advance(to, [...get(mask), ...i32Load8U(spelledAt + 7)]),
    advance(from, i32Const(1)),
    br(0),
  ),
)

/** Eight of `spelled`, those of `mask` behind a backslash; `first` is 0 or 8. */
const spreadHalf = (first: number, ofMask: Code): Code => [
  ...get(to),
  ...get(spelled),
  ...ofMask,
  ...i32Const(4),
  ...i32Shl,
  ...v128Load(spreadAt),
  ...(first === 0 ? [] : [...v128Bytes(first), ...i8x16Add]),
  ...i8x16Swizzle,
  ...tee(bytes),
  ...get(bytes),
  ...v128Bytes(0),
  ...i8x16Eq,
  ...v128Bytes(backslash),
  ...v128And,
  ...v128Or,
  ...v128Store(0),
  ...advance(to, [...ofMask, ...i32Popcnt, ...i32Const(8), ...i32Add]),
]

const body: Code = [
  ...block(
    loop(
      [...get(from), ...i32Const(16), ...i32Add, ...get(end), ...i32GtU, ...brIf(1)],
      [...get(from), ...v128Load(0), ...set(bytes)],
      [...get(bytes), ...v128Bytes(firstPlain), ...i8x16LtU],
      [...get(bytes), ...v128Bytes(quote), ...i8x16Eq, ...v128Or],
      [...get(bytes), ...v128Bytes(backslash), ...i8x16Eq, ...v128Or],
      [...i8x16Bitmask, ...tee(mask), ...i32Eqz],
      when(
        [...get(to), ...get(bytes), ...v128Store(0)],
        advance(from, i32Const(16)),
        advance(to, i32Const(16)),
        br(1),
      ),
      // Control characters become the letter of their short escape, or 0 where they have none.
      [...i32Const(shortAt), ...v128Load(0), ...get(bytes), ...i8x16Swizzle],
      [...get(bytes), ...get(bytes), ...v128Bytes(firstPlain), ...i8x16LtU, ...v128Bitselect],
      [...tee(spelled), ...v128Bytes(0), ...i8x16Eq, ...v128AnyTrue],
      when([...get(from), ...i32Const(16), ...i32Add, ...set(stop)], eachByte, br(1)),
      spreadHalf(0, [...get(mask), ...i32Const(255), ...i32And]),
      spreadHalf(8, [...get(mask), ...i32Const(8), ...i32ShrU]),
      advance(from, i32Const(16)),
      br(0),
    ),
  ),
  ...get(end),
  ...set(stop),
  ...eachByte,
  ...get(to),
]

/**
 * UTF-8 text as the inside of a JSON string, byte for byte what `JSON.stringify` makes of it.
 * Sixteen bytes at a time: those that need no escape are copied as they are; where all that do have
 * a short one (`\n`), each half is spread out by a table of where its eight bytes go. What needs a
 * long one (`\u001b`), and the last few bytes, go one by one.
 */
const escape: WasmFunction = { parameters: 3, i32Locals: 2, v128Locals: 2, body }

function writeTables(memory: Uint8Array): void {
  for (let byte = 0; byte < 256; byte++) {
    const spelling = spellingOf(byte)
    memory.set(spelling, spelledAt + byte * 8)
    memory[spelledAt + byte * 8 + 7] = spelling.length
    if (byte < 16 && spelling.length === 2) memory[shortAt + byte] = spelling[1] ?? 0
    memory.set(spreadOf(byte), spreadAt + byte * 16)
  }
}

function spellingOf(byte: number): number[] {
  const isPlain = byte >= firstPlain && byte !== quote && byte !== backslash
  if (isPlain) return [byte]
  return [...Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1), "latin1")]
}

function spreadOf(halfMask: number): number[] {
  const places = Array.from({ length: 8 }, (_, index) =>
    (halfMask >> index) & 1 ? [nowhere, index] : [index],
  ).flat()
  return [...places, ...Array.from({ length: 16 - places.length }, () => nowhere)]
}
