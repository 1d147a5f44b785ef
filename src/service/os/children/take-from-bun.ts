import { closeSync } from "node:fs"
import { duplicate, makePipe, replaceDescriptor } from "../libc.ts"

/** What Bun had read when a descriptor was taken from it arrives within two turns of its loop. */
export const quietTurns = 4

/**
 * Takes a pipe or terminal out of Bun's hands, by all the descriptors that Bun has of it, and
 * answers another one; null when there is none. Bun reads ahead of those who ask, and what it has
 * read is nowhere else. So its descriptors are made to mean a pipe at its end: from then on it
 * takes nothing from the child, and what it has taken is read to that end.
 */
export function takeFromBun(descriptors: readonly number[]): number | null {
  const [first] = descriptors
  if (first === undefined) return null
  const kept = duplicate(first)
  const nothing = makePipe()
  closeSync(nothing.writeFd)
  for (const fd of descriptors) replaceDescriptor(fd, nothing.readFd)
  closeSync(nothing.readFd)
  return kept
}
