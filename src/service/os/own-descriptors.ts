import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"

/**
 * What an open descriptor of this process means, in a form that is the same for all descriptors of
 * one pipe or one pseudo-terminal; null when it is not open.
 */
export function meaningOf(fd: number): string | null {
  try {
    const link = readlinkSync(`/proc/self/fd/${fd}`)
    if (!link.endsWith("/ptmx")) return link
    // All masters are one file; the kernel tells them apart by this number only.
    const info = readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")
    return `terminal ${/^tty-index:\s*(\d+)$/m.exec(info)?.[1] ?? "?"}`
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return null
  }
}

let index: Map<string, number[]> | null = null

/**
 * Bun shows none of its own descriptors: here they are found by what they mean. A hundred that are
 * looked for in one turn of the event loop share one look.
 */
export function descriptorsOf(meaning: string): number[] {
  if (index === null) {
    index = Map.groupBy(ownDescriptors(), (fd) => meaningOf(fd) ?? "")
    setImmediate(() => {
      index = null
    })
  }
  // One that was closed since may have been given out again, for something else.
  return (index.get(meaning) ?? []).filter((fd) => meaningOf(fd) === meaning)
}

/** The pseudo-terminals whose master side this process has open: their number → a descriptor. */
export function openMasters(): Map<number, number> {
  const masters = new Map<number, number>()
  for (const fd of ownDescriptors()) {
    const number = /^terminal (\d+)$/.exec(meaningOf(fd) ?? "")?.[1]
    if (number !== undefined) masters.set(Number(number), fd)
  }
  return masters
}

export function ownDescriptors(): number[] {
  return readdirSync("/proc/self/fd").map(Number)
}
