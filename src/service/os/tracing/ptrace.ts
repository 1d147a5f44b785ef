import { dlopen, FFIType, ptr } from "bun:ffi"
import { isErrno } from "../../../lib/errno.ts"
import { systemError } from "../libc.ts"

/** Just enough of ptrace(2) to watch another process from outside, and to steer it. */

const { i32, u64, ptr: pointer } = FFIType

/** From now on the thread is watched; it does not notice. Throws where that is not allowed. */
export function seize(tid: number, options: number): void {
  if (request(PTRACE_SEIZE, tid, 0, options) < 0) throw systemError("ptrace")
}

export const traceSystemCalls = 0x01 // tells their stops from signals
export const traceForks = 0x02 | 0x04 // fork and vfork
export const traceThreads = 0x08
export const traceExecutions = 0x10

export function setOptions(tid: number, options: number): void {
  request(PTRACE_SETOPTIONS, tid, 0, options)
}

/** Lets a stopped thread go on, with a signal or without. One that was killed is left alone. */
export function resume(tid: number, until: "event" | "system call", signal = 0): void {
  request(until === "event" ? PTRACE_CONT : PTRACE_SYSCALL, tid, 0, signal)
}

/** Lets a process that somebody has stopped stay so. */
export function leaveStopped(tid: number): void {
  request(PTRACE_LISTEN, tid, 0, 0)
}

/** Makes a running thread stop. */
export function interrupt(tid: number): void {
  request(PTRACE_INTERRUPT, tid, 0, 0)
}

/** The thread goes on, unwatched. */
export function detach(tid: number): void {
  request(PTRACE_DETACH, tid, 0, 0)
}

export type SystemCall = { isEntry: boolean; number: number; argument: number }

/** Where a thread has stopped; null when that is not at a system call, or it is gone. */
export function systemCallOf(tid: number): SystemCall | null {
  const info = new DataView(new ArrayBuffer(88))
  if (request(PTRACE_GET_SYSCALL_INFO, tid, info.byteLength, ptr(info)) < 0) return null
  const isEntry = info.getUint8(0) === 1
  if (!isEntry && info.getUint8(0) !== 2) return null
  const [number, argument] = [24, 32].map((at) => Number(info.getBigInt64(at, true)))
  return { isEntry, number: number ?? -1, argument: argument ?? -1 }
}

export function readSignalMask(tid: number): BigUint64Array {
  const mask = new BigUint64Array(1)
  if (request(PTRACE_GETSIGMASK, tid, mask.byteLength, ptr(mask)) < 0) throw systemError("ptrace")
  return mask
}

export function setSignalMask(tid: number, mask: BigUint64Array): void {
  if (request(PTRACE_SETSIGMASK, tid, mask.byteLength, ptr(mask)) < 0) throw systemError("ptrace")
}

/** A set of registers, by the number that the kernel gives it; as many of them as fit. */
export function readRegisters(tid: number, set: number, registers: BigUint64Array): void {
  registerSet(PTRACE_GETREGSET, tid, set, registers)
}

export function setRegisters(tid: number, set: number, registers: Registers): void {
  registerSet(PTRACE_SETREGSET, tid, set, registers)
}

type Registers = BigUint64Array | Int32Array

function registerSet(what: number, tid: number, set: number, registers: Registers): void {
  const vector = new BigUint64Array([BigInt(ptr(registers)), BigInt(registers.byteLength)])
  if (request(what, tid, set, ptr(vector)) < 0) throw systemError("ptrace")
}

/** Writes eight bytes, into code too. */
export function poke(tid: number, address: bigint, bytes: bigint): void {
  if (request(PTRACE_POKEDATA, tid, address, bytes) < 0) throw systemError("ptrace")
}

/** What became of a watched thread. */
export type Stop = { tid: number } & (
  | { kind: "gone" } // it has ended
  | { kind: "system call" }
  | { kind: "signal"; signal: number } // about to be delivered
  | { kind: "event"; event: number; signal: number }
)

export const eventExecution = 4
export const eventStop = 128

/** Waits for the next one; null when a timer's signal came first. Throws when none is left. */
export function nextStop(): Stop | null {
  const status = new Int32Array(1)
  const tid = library().waitpid(-1, ptr(status), WAIT_ALL)
  if (tid > 0) return stopOf(tid, status[0] ?? 0)
  const error = systemError("waitpid")
  if (isErrno(error, "EINTR")) return null
  throw error
}

/** As in wait(2), and ptrace(2): the event in the bits above. */
function stopOf(tid: number, status: number): Stop {
  if ((status & 0xff) !== 0x7f) return { tid, kind: "gone" }
  const signal = (status >> 8) & 0xff
  const event = status >> 16
  if (event !== 0) return { tid, kind: "event", event, signal }
  return signal === atSystemCall ? { tid, kind: "system call" } : { tid, kind: "signal", signal }
}
const atSystemCall = 5 | 0x80 // SIGTRAP, and what `traceSystemCalls` adds

/**
 * Interrupts `nextStop` again and again: it has no limit of its own. The signal is caught by a
 * function of the C library that does nothing, because the JavaScript thread is the one that waits.
 */
export function interruptEvery(periodMs: number): void {
  const { sigaction, setitimer, dlsym } = library()
  const name = Buffer.from("getpid\0")
  const action = new BigUint64Array(19) // the handler, a mask of 1024 bits, flags, a restorer
  action[0] = BigInt(dlsym(null, ptr(name)) ?? 0)
  if (sigaction(SIGALRM, ptr(action), null) !== 0) throw systemError("sigaction")
  const period = BigInt(periodMs * 1000)
  const times = new BigInt64Array([0n, period, 0n, period])
  if (setitimer(ITIMER_REAL, ptr(times), null) !== 0) throw systemError("setitimer")
}

/** Whoever watches a service must not end with a signal that is meant for that. */
export function ignoreSignals(signals: readonly number[]): void {
  const ignored = new BigUint64Array(19)
  ignored[0] = SIG_IGN
  for (const signal of signals) library().sigaction(signal, ptr(ignored), null)
}

const PTRACE_POKEDATA = 5
const PTRACE_CONT = 7
const PTRACE_DETACH = 17
const PTRACE_SYSCALL = 24
const PTRACE_SETOPTIONS = 0x4200
const PTRACE_GETREGSET = 0x4204
const PTRACE_SETREGSET = 0x4205
const PTRACE_SEIZE = 0x4206
const PTRACE_INTERRUPT = 0x4207
const PTRACE_LISTEN = 0x4208
const PTRACE_GETSIGMASK = 0x420a
const PTRACE_SETSIGMASK = 0x420b
const PTRACE_GET_SYSCALL_INFO = 0x420e
const WAIT_ALL = 0x40000000 // __WALL: threads, too
const SIGALRM = 14
const SIG_IGN = 1n
const ITIMER_REAL = 0

function request(what: number, tid: number, address: number | bigint, data: number | bigint) {
  return Number(library().ptrace(what, tid, BigInt(address), BigInt(data)))
}

function library() {
  return (opened ??= openLibrary()).symbols
}
let opened: ReturnType<typeof openLibrary> | null = null

function openLibrary() {
  // Of which libc is a part; an older one has `dlsym` only there.
  return dlopen("libdl.so.2", {
    ptrace: { args: [i32, i32, u64, u64], returns: FFIType.i64 },
    waitpid: { args: [i32, pointer, i32], returns: i32 },
    sigaction: { args: [i32, pointer, pointer], returns: i32 },
    setitimer: { args: [i32, pointer, pointer], returns: i32 },
    dlsym: { args: [pointer, pointer], returns: pointer },
  } as const)
}
