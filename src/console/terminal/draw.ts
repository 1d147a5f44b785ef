import type { Terminal } from "@xterm/xterm"
import type { ExecutionEvent } from "../../client/output/execution-event.ts"

/** Comes back when it is drawn: then the next event may be taken. */
export async function draw(emulator: Terminal, event: ExecutionEvent): Promise<void> {
  switch (event.kind) {
    case "screen": {
      const { cols, rows, data } = event.screen
      emulator.reset()
      emulator.resize(cols, rows)
      return written(emulator, data)
    }
    case "resized":
      return emulator.resize(event.cols, event.rows)
    case "output":
      return written(emulator, event.bytes)
  }
}

function written(emulator: Terminal, data: string | Uint8Array): Promise<void> {
  return new Promise((drawn) => emulator.write(data, drawn))
}
