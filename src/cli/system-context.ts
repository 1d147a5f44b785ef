import { dlopen, FFIType, ptr } from "bun:ffi"
import { fstatSync, write } from "node:fs"
import { isatty, WriteStream } from "node:tty"
import type { TerminalSize } from "../execution/spec.ts"
import { errnoOf, isErrno } from "../lib/errno.ts"
import {
  BrokenPipeError,
  type Context,
  type Input,
  type Output,
  type RawMode,
  type Signals,
} from "./context.ts"
import { isFedBySibling } from "./terminal/pipe-sibling.ts"
import { terminalText } from "./terminal/terminal-text.ts"

/** What the service itself knows. */
type OfService = "serve" | "decide" | "approvalRules" | "examineFiles"

/** The real world, save for what only main.ts may read. */
export function systemContext(
  given: Pick<Context, "env" | "home" | "build" | "self" | OfService>,
): Context {
  return {
    ...given,
    stdin: standardInput(),
    stdout: descriptorOutput(1),
    stderr: descriptorOutput(2),
    signals,
    cwd: process.cwd(),
    serviceOptions: [],
    now: () => new Date(),
    terminalSize,
  }
}

const signals: Signals = {
  on(signal, run) {
    process.on(signal, run)
    return { [Symbol.dispose]: () => void process.off(signal, run) }
  },
}

function terminalSize(): TerminalSize | null {
  const fd = [1, 0, 2].find((candidate) => isatty(candidate))
  if (fd === undefined) return null
  const [cols, rows] = new WriteStream(fd).getWindowSize()
  return cols > 0 && rows > 0 ? { cols, rows } : null
}

function standardInput(): Input {
  return {
    kind: inputKind(),
    isFedBySibling: () => isFedBySibling(0),
    async *chunks(until) {
      const reader = Bun.stdin.stream().getReader()
      const cancel = () => void reader.cancel().catch(() => undefined)
      until.addEventListener("abort", cancel)
      try {
        while (!until.aborted) {
          const { done, value } = await reader.read()
          if (done) return
          yield value
        }
      } finally {
        until.removeEventListener("abort", cancel)
      }
    },
    rawMode: () => rawTerminal(0),
  }
}

function inputKind(): Input["kind"] {
  if (isatty(0)) return "terminal"
  const stat = fstatSync(0)
  return stat.isFIFO() || stat.isFile() || stat.isSocket() ? "stream" : "nothing"
}

const termiosBytes = 128 // sixty are in use on Linux; the library never writes past its own size
const TCSADRAIN = 1

/**
 * Every byte as it is, both ways. The runtime's own raw mode goes on turning a line feed into two
 * characters, which moves the cursor of full-screen programs to places they do not expect.
 */
function rawTerminal(fd: number): RawMode {
  const libc = dlopen("libc.so.6", {
    tcgetattr: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    tcsetattr: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    cfmakeraw: { args: [FFIType.ptr], returns: FFIType.void },
  })
  const { symbols } = libc
  const before = new Uint8Array(termiosBytes)
  symbols.tcgetattr(fd, ptr(before))
  const raw = before.slice()
  symbols.cfmakeraw(ptr(raw))

  const enter = () => void symbols.tcsetattr(fd, TCSADRAIN, ptr(raw))
  const leave = () => void symbols.tcsetattr(fd, TCSADRAIN, ptr(before))
  // Whatever ends this process, save SIGKILL: a shell in raw mode is of no use to anybody.
  process.on("exit", leave)
  enter()
  return {
    renew: enter,
    [Symbol.dispose]() {
      leave()
      process.off("exit", leave)
      libc.close()
    },
  }
}

const retryMs = 5

/**
 * Writes in order, one piece at a time, on a thread of the runtime: whoever awaits goes at the
 * reader's pace, and signals are heard meanwhile. Bun's process.stdout would make a pipe
 * non-blocking for everybody who shares it, the shell included.
 */
function descriptorOutput(fd: 1 | 2): Output {
  const isTty = isatty(fd)
  let turn: Promise<void> = Promise.resolve()
  const writeBytes = (bytes: Uint8Array) => {
    const done = turn.then(() => writeAll(fd, bytes))
    turn = done.catch(() => undefined) // a failure is told to its writer alone
    return done
  }
  return {
    isTty,
    width() {
      if (!isTty) return null
      const [columns] = new WriteStream(fd).getWindowSize()
      return columns > 0 ? columns : null
    },
    write: (text) => writeBytes(Buffer.from(terminalText(text))),
    writeBytes,
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    try {
      written += await writeOnce(fd, bytes.subarray(written))
    } catch (error) {
      // Somebody who shares the descriptor may have made it non-blocking.
      if (isErrno(error, "EAGAIN", "EINTR")) await Bun.sleep(retryMs)
      else if (isErrno(error, "EPIPE", "EIO")) throw new BrokenPipeError(`${errnoOf(error)}`)
      else throw error
    }
  }
}

function writeOnce(fd: number, bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)))
  return promise
}
