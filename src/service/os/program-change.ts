import { dlopen, FFIType, ptr } from "bun:ffi"
import { fstatSync, readSync, writeSync } from "node:fs"
import { constants } from "node:os"
import { systemError } from "./libc.ts"
import { ownDescriptors } from "./own-descriptors.ts"

/**
 * Puts another program into this very process: the pid, its children and the named descriptors
 * stay, everything else of this program is gone. Throws when that program cannot be executed.
 */
export function becomeProgram(
  path: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  descriptors: readonly number[],
): never {
  const { execve, fcntl } = library()
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  // Some of Bun's own descriptors would stay open otherwise, a terminal's among them. One by one:
  // to do it at once takes a newer kernel than all else here.
  for (const fd of ownDescriptors()) if (fd > 2) fcntl(fd, F_SETFD, FD_CLOEXEC)
  for (const fd of descriptors) fcntl(fd, F_SETFD, 0n) // one that is closed is nobody's loss
  using _blocked = blockSignals()
  const [file, words, settings] = [text(path), textList(argv), textList(variables)]
  execve(ptr(file), ptr(words.list), ptr(settings.list))
  throw systemError("execve")
}

/** A file that has no name and is nowhere on disk: it is gone with the last who has it open. */
export function memoryFile(bytes: Uint8Array): number {
  const name = text("cc-executor")
  const fd = library().memfd_create(ptr(name), MFD_CLOEXEC)
  if (fd < 0) throw systemError("memfd_create")
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at)
  return fd
}

/** All of such a file. It stays open, for whoever may have to read it again. */
export function readMemoryFile(fd: number): Uint8Array {
  const bytes = new Uint8Array(fstatSync(fd).size)
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(fd, bytes, at, bytes.length - at, at)
    if (read === 0) break
    at += read
  }
  return bytes
}

/**
 * From now until the next program runs, no signal that ends the service gets lost. Bun keeps caught
 * signals in memory, which `execve` discards, and blocking them would not help: any other thread
 * of Bun would take them instead. So they are caught by `umask` itself, which may be called in a
 * signal handler, gets the signal's number as its argument, and whose effect outlives `execve`: the
 * next program finds there which signal came. Answers the umask to restore.
 */
export function holdEndSignals(): number {
  if (heldUmask !== null) return heldUmask
  heldUmask = process.umask(noSignal)
  const name = text("umask")
  const { signal, dlsym } = library()
  const umask = dlsym(null, ptr(name))
  for (const end of endSignals) signal(constants.signals[end], umask)
  return heldUmask
}
let heldUmask: number | null = null

/** In the next program: a signal that came meanwhile comes again, once signals are let through. */
export function raiseHeldSignal(umask: number): void {
  const held = process.umask(umask)
  const name = endSignals.find((signal) => constants.signals[signal] === held)
  if (name !== undefined) process.kill(process.pid, name)
}

const endSignals = ["SIGTERM", "SIGINT"] as const
/** No signal has such a number, and a file made meanwhile would be nobody's to read. */
const noSignal = 0o777

/**
 * A program that has just begun has no handlers yet, and would end at the first signal. Blocked
 * ones stay blocked and pending across `execve`, until they are let through.
 */
function blockSignals(): Disposable {
  changeMask(SIG_BLOCK)
  return { [Symbol.dispose]: letSignalsThrough }
}

export function letSignalsThrough(): void {
  changeMask(SIG_UNBLOCK)
}

function changeMask(how: number): void {
  const { SIGHUP, SIGINT, SIGTERM, SIGUSR2 } = constants.signals
  const mask = new BigUint64Array(16) // sigset_t is 1024 bits
  mask[0] = [SIGHUP, SIGINT, SIGTERM, SIGUSR2].reduce((set, n) => set | (1n << BigInt(n - 1)), 0n)
  if (library().pthread_sigmask(how, ptr(mask), null) !== 0) throw systemError("pthread_sigmask")
}

const F_SETFD = 2
const FD_CLOEXEC = 1n
const MFD_CLOEXEC = 1
const SIG_BLOCK = 0
const SIG_UNBLOCK = 1

/** Opened when it is first needed: most services never are upgraded. */
function library() {
  return (opened ??= openLibrary()).symbols
}
let opened: ReturnType<typeof openLibrary> | null = null

function openLibrary() {
  // Of which libc is a part; an older one has `dlsym` only there.
  return dlopen("libdl.so.2", {
    execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
    fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i64], returns: FFIType.i32 },
    memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    signal: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
    dlsym: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
    pthread_sigmask: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  } as const)
}

function text(value: string): Uint8Array {
  return Buffer.from(`${value}\0`)
}

/** Pointers to each, then null. The texts must live as long as the list. */
function textList(values: readonly string[]): { list: BigUint64Array; texts: Uint8Array[] } {
  const texts = values.map(text)
  const list = new BigUint64Array(texts.length + 1)
  for (const [at, one] of texts.entries()) list[at] = BigInt(ptr(one))
  return { list, texts }
}
