import type { GapEvent } from "../../client/output/execution-event.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"
import type { Completed } from "../../protocol/notifications.ts"
import type { Context } from "../context.ts"
import { sizeText } from "../time.ts"

/** Writes each stream's bytes to its own descriptor, unchanged; answers the end. */
export async function showOutput(
  context: Pick<Context, "stdout" | "stderr">,
  execution: RemoteExecution,
  see: (bytes: Uint8Array) => void,
): Promise<Completed> {
  for await (const event of execution.output()) {
    switch (event.kind) {
      case "output":
        see(event.bytes)
        await (event.stream === "stdout" ? context.stdout : context.stderr).write(event.bytes)
        break
      case "gap":
        await context.stderr.write(`cc-executor: ${gapText(event)}\n`)
        break
      case "completed":
        return event.completed
      case "started":
      case "paused":
      case "resumed":
      case "canceled":
        break
    }
  }
  return execution.ended
}

export function gapText(gap: Pick<GapEvent, "bytes" | "lines" | "reason">): string {
  return `${sizeText(gap.bytes)} (${gap.lines} lines) are missing here: ${gap.reason}`
}

const enterAlternate = "\x1b[?1049h"
const leaveAlternate = "\x1b[?1049l"

// Attributes, cursor, mouse, bracketed paste: harmless where nothing had changed them.
const plain = "\x1b[0m\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l"

/** What a program has done to the terminal, so that who leaves it in the middle can undo that. */
export class TerminalModes {
  #isAlternate = false

  see(bytes: Uint8Array): void {
    if (!bytes.includes(0x1b)) return
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
    const entered = text.lastIndexOf(enterAlternate)
    const left = text.lastIndexOf(leaveAlternate)
    if (entered !== left) this.#isAlternate = entered > left
  }

  undo(): string {
    return this.#isAlternate ? leaveAlternate + plain : plain
  }
}
