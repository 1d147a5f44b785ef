import { growPipe } from "./libc.ts"

const largeBytes = 262_144
const mostLarge = 8
let large = 0

// An unprivileged user's quota is small: there every pipe keeps the kernel's 64 KiB.
const mayGrow = process.getuid?.() === 0

/**
 * Makes a pipe large while few are: a flood is then read in large pieces, at less cost. Some pieces
 * of each pipe are in memory at a time, so that sixty large ones took the keeper to 135 MB. Gives
 * the place back when it is disposed.
 */
export function enlarge(readFd: number): Disposable {
  if (!mayGrow || large >= mostLarge) return { [Symbol.dispose]: () => undefined }
  growPipe(readFd, largeBytes)
  large += 1
  let isGivenBack = false
  return {
    [Symbol.dispose]() {
      if (!isGivenBack) large -= 1
      isGivenBack = true
    },
  }
}
