import { readdirSync, readFileSync, readlinkSync } from "node:fs"

const listening = "0A"

/** The TCP ports on which a process listens, as the kernel shows them. */
export function listeningPorts(pid: number): number[] {
  const folder = `/proc/${pid}/fd`
  const inodes = new Set(
    readdirSync(folder).map((fd) => /^socket:\[(\d+)\]$/.exec(readlink(`${folder}/${fd}`))?.[1]),
  )
  const rows = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n").slice(1),
  )
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/)
    if (state !== listening || !inodes.has(inode)) return []
    return [Number.parseInt(local.slice(local.indexOf(":") + 1), 16)]
  })
}

/** The descriptor that reads the folder is in it, and gone. */
function readlink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}
