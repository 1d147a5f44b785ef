/**
 * Just enough of WebAssembly's binary format to write a short function by hand, instruction by
 * instruction, with the names of the text format. JavaScript has no way to look at sixteen bytes at
 * once; this has, and needs neither a compiler nor a file.
 */
export type Code = number[]

export type WasmFunction = {
  /** All of them i32, as is the result. */
  parameters: number
  i32Locals: number
  v128Locals: number
  body: Code
}

const pageBytes = 65_536

export type Compiled = { run: (...given: number[]) => number; memory: Uint8Array<ArrayBuffer> }

/** Null on a processor that has no such instructions: x86 without AVX. */
export function compile(written: WasmFunction, memoryBytes: number): Compiled | null {
  const code = assemble(written, memoryBytes)
  if (!WebAssembly.validate(code)) return null
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code))
  const { run, memory } = exports
  if (!isRunnable(run) || !(memory instanceof WebAssembly.Memory)) return null
  return { run, memory: new Uint8Array(memory.buffer) }
}

function isRunnable(value: unknown): value is Compiled["run"] {
  return typeof value === "function"
}

/** A module of one function, `run`, and its memory. */
function assemble(written: WasmFunction, memoryBytes: number): Uint8Array<ArrayBuffer> {
  const pages = unsigned(Math.ceil(memoryBytes / pageBytes))
  return new Uint8Array([
    ...new TextEncoder().encode("\0asm\x01\0\0\0"), // and the version of the format
    ...section(1, [typeOf(written)]),
    ...section(3, [[0]]), // the function is of that type
    ...section(5, [[0x01, ...pages, ...pages]]), // memory that cannot grow
    ...section(7, [exported("run", 0x00), exported("memory", 0x02)]),
    ...section(10, [sized(written)]),
  ])
}

const i32 = 0x7f
const v128Type = 0x7b
const empty = 0x40

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number): Code => [0x21, ...unsigned(local)]
export const tee = (local: number): Code => [0x22, ...unsigned(local)]

export const block = (...body: Code[]): Code => [0x02, empty, ...body.flat(), 0x0b]
export const loop = (...body: Code[]): Code => [0x03, empty, ...body.flat(), 0x0b]
export const when = (...body: Code[]): Code => [0x04, empty, ...body.flat(), 0x0b]
/** Leaves a block, or begins a loop anew; 0 is the innermost. */
export const br = (depth: number): Code => [0x0c, ...unsigned(depth)]
/** Returns what was put there last. */
export const leave: Code = [0x0f]
export const brIf = (depth: number): Code => [0x0d, ...unsigned(depth)]

export const i32Const = (value: number): Code => [0x41, ...signed(value)]
export const i32Eqz: Code = [0x45]
export const i32LtU: Code = [0x49]
export const i32GtU: Code = [0x4b]
export const i32GeU: Code = [0x4f]
export const i32Ctz: Code = [0x68]
export const i32Popcnt: Code = [0x69]
export const i32Add: Code = [0x6a]
export const i32Sub: Code = [0x6b]
export const i32And: Code = [0x71]
export const i32Shl: Code = [0x74]
export const i32ShrU: Code = [0x76]
export const i32Load8U = (offset: number): Code => [0x2d, 0, ...unsigned(offset)]
export const i64Load = (offset: number): Code => [0x29, 0, ...unsigned(offset)]
export const i64Store = (offset: number): Code => [0x37, 0, ...unsigned(offset)]

export const v128Load = (offset: number): Code => vector(0, 0, ...unsigned(offset))
export const v128Store = (offset: number): Code => vector(11, 0, ...unsigned(offset))
/** The same byte sixteen times. */
export const v128Bytes = (byte: number): Code =>
  vector(12, ...Array.from({ length: 16 }, () => byte))
export const v128And: Code = vector(78)
export const v128Or: Code = vector(80)
export const v128Bitselect: Code = vector(82)
export const v128AnyTrue: Code = vector(83)
export const i8x16Swizzle: Code = vector(14)
export const i8x16Splat: Code = vector(15)
export const i8x16Eq: Code = vector(35)
export const i8x16LtU: Code = vector(38)
export const i8x16AllTrue: Code = vector(99)
export const i8x16Bitmask: Code = vector(100)
export const i8x16Add: Code = vector(110)

function vector(operation: number, ...immediates: number[]): Code {
  return [0xfd, ...unsigned(operation), ...immediates]
}

function typeOf({ parameters }: WasmFunction): Code {
  const taken = Array.from({ length: parameters }, () => i32)
  return [0x60, ...unsigned(parameters), ...taken, 1, i32]
}

function exported(name: string, kind: number): Code {
  return [...unsigned(name.length), ...new TextEncoder().encode(name), kind, 0]
}

function sized({ i32Locals, v128Locals, body }: WasmFunction): Code {
  const locals = [2, ...unsigned(i32Locals), i32, ...unsigned(v128Locals), v128Type]
  const all = [...locals, ...body, 0x0b]
  return [...unsigned(all.length), ...all]
}

function section(id: number, entries: Code[]): Code {
  const content = [...unsigned(entries.length), ...entries.flat()]
  return [id, ...unsigned(content.length), ...content]
}

/** LEB128: seven bits a byte, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]
}
