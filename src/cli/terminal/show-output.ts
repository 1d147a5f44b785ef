import type { GapEvent } from "../../client/output/execution-event.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { Completed } from "../../protocol/notifications.ts"
import type { Context } from "../context.ts"
import { sizeText } from "../time.ts"
import type { TerminalOutput } from "./screen/terminal-output.ts"

/** Writes each stream's bytes to its own descriptor, or shows them there; answers the end. */
export async function showOutput(
  context: Pick<Context, "stdout" | "stderr">,
  execution: RemoteExecution,
  terminal: Pick<TerminalOutput, "show"> | null,
): Promise<Completed> {
  for await (const event of execution.output()) {
    switch (event.kind) {
      case "output":
        await (terminal?.show(event) ?? context[event.stream].writeBytes(event.bytes))
        break
      case "screen":
      case "resized":
        await terminal?.show(event)
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
  const lines = countText(gap.lines, "line")
  return `${sizeText(gap.bytes)} (${lines}) are missing here: ${onOneLine(gap.reason)}`
}
