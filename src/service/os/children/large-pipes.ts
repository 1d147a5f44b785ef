import { growPipe, pipeBytes } from "../libc.ts"

const usualBytes = 65_536
const largeBytes = 262_144
const mostLarge = 8
let large = 0

// An unprivileged user's quota is small: there every pipe keeps the kernel's 64 KiB.
const mayGrow = process.getuid?.() === 0

/**
 * Makes a pipe large while few are: a flood is then read in large pieces, at less cost. Some pieces
 * of each pipe are in memory at a time, so that sixty large ones took the keeper to 135 MB.
 */
export function enlarge(readFd: number): void {
  if (mayGrow && large < mostLarge) growPipe(readFd, largeBytes)
}

/** Counts a pipe among the large ones, if it is one, until disposed. */
export function countIfLarge(readFd: number): Disposable {
  const share = pipeBytes(readFd) > usualBytes ? 1 : 0
  large += share
  let isGivenBack = false
  return {
    [Symbol.dispose]() {
      if (!isGivenBack) large -= share
      isGivenBack = true
    },
  }
}
