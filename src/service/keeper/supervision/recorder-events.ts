import type { ExecutionRecord } from "../../../execution/record.ts"
import type { RecorderEvents } from "./recorder.ts"
import type { RunningClocks } from "./running-clocks.ts"
import type { Steering } from "./steering.ts"
import type { SupervisedChild } from "./supervised-child.ts"
import type { SupervisionPorts } from "./supervision-ports.ts"

/** What follows from what a recorder does. */
export function recorderEvents(
  execution: { readonly record: ExecutionRecord; readonly steering: Steering },
  clocks: RunningClocks,
  ports: Pick<SupervisionPorts, "advanced" | "changed">,
  supervised: Pick<SupervisedChild, "agent">,
  setBlocked: (isBlocked: boolean) => void,
): RecorderEvents {
  const { id } = execution.record
  const { steering } = execution
  return {
    advanced(bytes) {
      if (bytes > 0) clocks.active()
      ports.advanced(id, bytes)
      supervised.agent?.advanced()
    },
    blockedChanged(isBlocked) {
      clocks.setBlocked(isBlocked)
      setBlocked(isBlocked)
      ports.changed(execution.record)
    },
    diskFull: () => void steering.stop("disk-full"),
    outputLimit: () => void steering.stop("output-limit"),
  }
}
