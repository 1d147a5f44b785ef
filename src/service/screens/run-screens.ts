import { ToScreens } from "../../protocol/screens-ipc.ts"
import { GarbageCollector } from "../os/garbage-collector.ts"
import { createTranscriptReader } from "../storage/transcript/read/reader.ts"
import { ScreenTable } from "./screen-table.ts"

/** Bytes shown: the emulator makes several times as much of them. */
const collectEveryBytes = 8 * 1024 * 1024

/**
 * The process that keeps the screens of terminals: a child of the gateway, which may kill it at any
 * moment. It reads transcripts, writes snapshots beside them, and holds nothing else.
 */
export function runScreens([transcripts = ""]: readonly string[]): Promise<number> {
  const garbage = new GarbageCollector(collectEveryBytes)
  const table = new ScreenTable(
    transcripts,
    createTranscriptReader(transcripts),
    (message) => void process.send?.(message),
    garbage.reportGarbage,
  )
  process.on("message", (message) => table.receive(ToScreens.parse(message)))
  const gatewayGone = new Promise<number>((resolve) => {
    process.on("disconnect", () => resolve(0))
    process.on("SIGTERM", () => resolve(0))
    if (!process.connected) resolve(0)
  })
  return Promise.race([table.run(), gatewayGone])
}
