import { readdirSync } from "node:fs"

/** How many file descriptors a process has open. */
export function openFilesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
