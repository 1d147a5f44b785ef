import { shortId } from "../../execution/id.ts"
import { checkIn } from "../../execution/trial/check-wrapper.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Completed } from "../../protocol/notifications.ts"

/**
 * The command as a person would type it, on one line; of a step of a trial its role and its check,
 * without what the service has wrapped around it.
 */
export function commandText({
  command,
  argv,
  trial,
}: Pick<ExecutionView, "command" | "argv" | "trial">): string {
  const words = command ?? argv.map(quoted).join(" ")
  return onOneLine(trial === undefined ? words : `${trial.role}: ${checkIn(argv) ?? words}`)
}

/** A word that a POSIX shell takes as it is. */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** How it ended, in a word or two; empty while it lives. */
export function exitText(view: Pick<ExecutionView, "ending">): string {
  const { ending } = view
  if (ending === null) return ""
  switch (ending.outcome) {
    case "exited":
      return String(ending.exit_code)
    case "signaled":
      return ending.signal ?? "signal"
    case "stopped":
      return ending.cause === "client" ? "canceled" : (ending.cause ?? "stopped")
    case "failed-to-start":
      return "not started"
    case "lost":
      return "lost"
  }
}

/** A sentence for an end that the exit code alone does not explain; null for all others. */
export function endingNotice(completed: Completed): string | null {
  const id = onOneLine(shortId(completed.execution_id))
  const reason = onOneLine(completed.reason ?? "unknown reason")
  switch (completed.outcome) {
    case "exited":
    case "signaled":
      return null
    case "stopped":
      return stoppedNotice(id, completed)
    case "failed-to-start":
      return `${id} could not be started: ${reason}`
    case "lost":
      return (
        `${id} was lost: ${reason}. How it ended is not known; ` +
        `\`cc-executor logs ${id}\` shows what it had written.`
      )
  }
}

function stoppedNotice(id: string, completed: Completed): string {
  switch (completed.cause) {
    case "wall-timeout":
      return `${id} was stopped: it reached its timeout (--timeout).`
    case "idle-timeout":
      return `${id} was stopped: it had no input or output for too long (--idle-timeout).`
    case "output-limit":
      return `${id} was stopped: it exceeded its output limit.`
    case "out-of-memory":
      return `${id} was stopped: it exceeded its memory limit.`
    case "disk-full":
      return `${id} was stopped: the service's disk is full. Free some space, then run it again.`
    case "disconnected":
      return `${id} was stopped: its client was disconnected for too long.`
    case "shutdown":
      return `${id} was stopped: the service was shut down.`
    case "budget":
      return `${id} ended its session: a budget was used up.`
    case "usage-limit":
      return `${id} ended its session: a usage limit was reached (--on-limit stop).`
    case "agent-failed":
      return `${id} ended its session: the agent's program failed again and again.`
    case "client":
    case null:
      return `${id} was canceled.`
  }
}

/** What outlived every signal, for those who must now look after it. */
export function survivorsNotice(completed: Pick<Completed, "survivors">): string | null {
  const { survivors } = completed
  if (survivors.length === 0) return null
  const list = survivors.map(({ pid, command }) => `${pid} (${onOneLine(command)})`).join(", ")
  return `these processes could not be killed and are still running: ${list}`
}
