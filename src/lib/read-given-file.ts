import { constants, fstatSync, readSync } from "node:fs"
import { openFile } from "./open-file.ts"

/**
 * The text of a file that somebody else has named, wherever it is: nobody waits at a pipe, or reads
 * without end. Throws what the system says, or a sentence.
 */
export function readRegularFile(path: string, mostBytes: number): string {
  using file = openFile(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (!fstatSync(file.fd).isFile()) throw new Error(`${path} is not a regular file`)
  return readAtMost(file.fd, path, mostBytes)
}

/** The same where whoever runs this has named it: that may be a pipe, and is waited for. */
export function readGivenFile(path: string, mostBytes: number): string {
  using file = openFile(path, constants.O_RDONLY)
  return readAtMost(file.fd, path, mostBytes)
}

function readAtMost(fd: number, path: string, mostBytes: number): string {
  const pieces: Buffer[] = []
  for (let left = mostBytes; ; ) {
    const piece = Buffer.alloc(Math.min(left, pieceBytes) + 1)
    const read = readSync(fd, piece)
    if (read === 0) return Buffer.concat(pieces).toString("utf8")
    pieces.push(piece.subarray(0, read))
    left -= read
    if (left < 0) throw new Error(`${path} is larger than ${mostBytes} bytes`)
  }
}

const pieceBytes = 65_536
