import { constants } from "node:os"
import type { Completed } from "../protocol/notifications.ts"

/** cc-executor itself failed; the command's own exit code is not known. As docker has it. */
export const ownFailure = 125
const cannotExecute = 126
const notFound = 127
const timedOut = 124 // as coreutils' timeout has it
const canceled = 130 // what a shell says after Ctrl-C

const signalNumbers: ReadonlyMap<string, number> = new Map(Object.entries(constants.signals))

/** What `run`, `attach` and `wait` exit with. */
export function exitCodeOf(
  completed: Pick<Completed, "outcome" | "exit_code" | "signal" | "cause">,
) {
  switch (completed.outcome) {
    case "exited":
      return completed.exit_code ?? ownFailure
    case "signaled":
      return signalExitCode(completed.signal ?? "")
    case "stopped":
      return stoppedExitCode(completed.cause)
    case "failed-to-start":
      return cannotExecute
    case "lost":
      return ownFailure
  }
}

function signalExitCode(signal: string): number {
  const number = signalNumbers.get(signal) ?? Number(/^SIG(\d+)$/.exec(signal)?.[1] ?? Number.NaN)
  return Number.isNaN(number) ? ownFailure : 128 + number
}

function stoppedExitCode(cause: Completed["cause"]): number {
  switch (cause) {
    case "wall-timeout":
    case "idle-timeout":
      return timedOut
    case "client":
    case "disconnected":
    case null:
      return canceled
    case "out-of-memory":
      return signalExitCode("SIGKILL") // what the kernel would have sent
    case "shutdown":
      return signalExitCode("SIGTERM")
    case "output-limit":
    case "disk-full":
    case "budget":
    case "usage-limit":
    case "agent-failed":
      return ownFailure
  }
}

/** For a program that was refused before it became an execution, as shells have it. */
export function spawnExitCode(errno: unknown): number {
  return errno === "ENOENT" ? notFound : cannotExecute
}
