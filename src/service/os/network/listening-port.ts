import { readTcpTable } from "../proc.ts"

const listening = "0A"

/** Whether any program of this machine listens on a port, at whichever address. Binds nothing. */
export function listensOn(port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return (["tcp", "tcp6"] as const).some((family) =>
    readTcpTable(family)
      .split("\n")
      .some((line) => {
        const [, local = "", , state] = line.trim().split(/\s+/)
        return state === listening && local.endsWith(wanted)
      }),
  )
}
