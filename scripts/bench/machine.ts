import { cpus, release, type as systemName, totalmem } from "node:os"

/** Where and when a benchmark ran: no figure means anything without it. */
export function machine(): string {
  const memoryGib = Math.round(totalmem() / 2 ** 30)
  const processor = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}`
  return `${processor}, ${memoryGib} GiB, ${systemName()} ${release()}, Bun ${Bun.version}`
}
