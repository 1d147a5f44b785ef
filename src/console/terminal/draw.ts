import type { Terminal } from "@xterm/xterm"
import type { ExecutionEvent } from "../../client/output/execution-event.ts"

/** Comes back when it is drawn: then the next event may be taken. */
export async function draw(emulator: Terminal, event: ExecutionEvent): Promise<void> {
  if (event.kind === "output") return written(emulator, event.bytes)
  if (event.kind === "resized") emulator.resize(event.cols, event.rows)
  if (event.kind !== "screen") return
  const { cols, rows, data } = event.screen
  emulator.reset()
  emulator.resize(cols, rows)
  await written(emulator, data)
}

function written(emulator: Terminal, data: string | Uint8Array): Promise<void> {
  return new Promise((drawn) => emulator.write(data, drawn))
}
