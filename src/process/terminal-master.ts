import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { isErrno } from "../execution/errno.ts"

/**
 * The pseudo-terminals whose master side this process has open: their number → a descriptor. Bun
 * shows none of its own, and the kernel tells them apart by this number only.
 */
export function openMasters(): Map<number, number> {
  const masters = new Map<number, number>()
  for (const name of readdirSync("/proc/self/fd")) {
    const number = terminalNumber(name)
    if (number !== null) masters.set(number, Number(name))
  }
  return masters
}

function terminalNumber(fd: string): number | null {
  try {
    if (!readlinkSync(`/proc/self/fd/${fd}`).endsWith("/ptmx")) return null
    const info = readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")
    const number = /^tty-index:\s*(\d+)$/m.exec(info)?.[1]
    return number === undefined ? null : Number(number)
  } catch (error) {
    // The descriptor that listed them is gone by now.
    if (!isErrno(error, "ENOENT")) throw error
    return null
  }
}
