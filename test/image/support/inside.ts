import { readFileSync } from "node:fs"
import { isErrno } from "../../../src/lib/errno.ts"
import { readStat } from "../../../src/service/os/proc.ts"
import { descendantsOf } from "../../support/real-processes.ts"
import type { Container } from "./container.ts"

/** A process of a container by its pid in there: R, S, T (stopped), Z, or null when it is gone. */
export async function stateInside(container: Container, pid: number): Promise<string | null> {
  const { Pid: first } = await container.state()
  const found = [{ pid: first }, ...descendantsOf(first)].find((one) => pidInside(one.pid) === pid)
  return found === undefined ? null : (readStat(found.pid)?.state ?? null)
}

function pidInside(pid: number): number | null {
  try {
    const pids = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
    return Number(pids?.split(/\s+/).at(-1))
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return null // it has ended meanwhile
    throw error
  }
}
