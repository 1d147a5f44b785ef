import { dlopen, FFIType, ptr } from "bun:ffi"
import type { RawMode } from "../context.ts"

const termiosBytes = 128 // sixty are in use on Linux; the library never writes past its own size
const TCSADRAIN = 1

/**
 * Every byte as it is, both ways. The runtime's own raw mode goes on turning a line feed into two
 * characters, which moves the cursor of full-screen programs to places they do not expect.
 */
export function rawTerminal(fd: number): RawMode {
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
