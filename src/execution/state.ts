import { z } from "zod"

/** How the leader, the process that was started, came to its end. */
export const Exit = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("exited"), exitCode: z.int().min(0).max(255) }),
  z.object({ kind: z.literal("signaled"), signal: z.string() }),
])
export type Exit = z.infer<typeof Exit>

export const StopCause = z.enum([
  "client",
  "wall-timeout",
  "idle-timeout",
  "output-limit",
  "out-of-memory",
  "disk-full",
  "disconnected",
  "shutdown",
  // Of an agent's session, which ends itself:
  "budget",
  "usage-limit",
  "agent-failed",
])
export type StopCause = z.infer<typeof StopCause>

export const Outcome = z.discriminatedUnion("kind", [
  ...Exit.options,
  z.object({
    kind: z.literal("stopped"),
    cause: StopCause,
    exit: Exit.nullable().describe("null if it was stopped before it started"),
  }),
  z.object({ kind: z.literal("failed-to-start"), errno: z.string(), message: z.string() }),
  z.object({ kind: z.literal("lost"), reason: z.string() }),
])
export type Outcome = z.infer<typeof Outcome>

export const StateKind = z.enum([
  "queued",
  "starting",
  "running",
  "paused",
  "stopping",
  "draining",
  "ended",
])
export type StateKind = z.infer<typeof StateKind>

/** In the order of life: one that moves on between two questions is seen in the later one. */
export const liveStates = StateKind.exclude(["ended"]).options

const pid = z.int().positive()

export const ExecutionState = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("queued") }),
  z.object({ kind: z.literal("starting") }),
  z.object({ kind: z.literal("running"), pid }),
  z.object({ kind: z.literal("paused"), pid }),
  z.object({ kind: z.literal("stopping"), pid, cause: StopCause }),
  z.object({ kind: z.literal("draining"), pid, exit: Exit, cause: StopCause.nullable() }),
  z.object({ kind: z.literal("ended"), outcome: Outcome }),
])
export type ExecutionState = z.infer<typeof ExecutionState>

export const ExecutionEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("admitted") }),
  z.object({ kind: z.literal("started"), pid }),
  z.object({ kind: z.literal("start-failed"), errno: z.string(), message: z.string() }),
  z.object({ kind: z.literal("paused") }),
  z.object({ kind: z.literal("resumed") }),
  z.object({ kind: z.literal("stop-requested"), cause: StopCause }),
  z.object({ kind: z.literal("leader-exited"), exit: Exit }),
  z.object({ kind: z.literal("emptied") }),
  z.object({ kind: z.literal("lost"), reason: z.string() }),
])
export type ExecutionEvent = z.infer<typeof ExecutionEvent>

/**
 * The one owner of an execution's life. An event that comes late or twice leaves the state as it
 * is (the same object comes back), so that a journal can be replayed without looking.
 */
export function transition(state: ExecutionState, event: ExecutionEvent): ExecutionState {
  switch (event.kind) {
    case "admitted":
      return state.kind === "queued" ? { kind: "starting" } : state
    case "started":
      return state.kind === "starting" ? { kind: "running", pid: event.pid } : state
    case "start-failed":
      return startFailed(state, event)
    case "paused":
      return state.kind === "running" ? { kind: "paused", pid: state.pid } : state
    case "resumed":
      return state.kind === "paused" ? { kind: "running", pid: state.pid } : state
    case "stop-requested":
      return stopRequested(state, event.cause)
    case "leader-exited":
      return leaderExited(state, event.exit)
    case "emptied":
      return emptied(state)
    case "lost":
      return state.kind === "ended" ? state : ended({ kind: "lost", reason: event.reason })
  }
}

function startFailed(
  state: ExecutionState,
  event: Extract<ExecutionEvent, { kind: "start-failed" }>,
): ExecutionState {
  if (state.kind !== "starting") return state
  return ended({ kind: "failed-to-start", errno: event.errno, message: event.message })
}

/**
 * The first cause wins: a timeout that fires while a cancel is at work changes nothing. What came
 * through the pipes may be found to be too much after the leader's end: that is told all the same.
 */
function stopRequested(state: ExecutionState, cause: StopCause): ExecutionState {
  switch (state.kind) {
    case "queued":
    case "starting":
      return ended({ kind: "stopped", cause, exit: null })
    case "running":
    case "paused":
      return { kind: "stopping", pid: state.pid, cause }
    case "draining":
      return state.cause === null && cause === "output-limit" ? { ...state, cause } : state
    case "stopping":
    case "ended":
      return state
  }
}

function leaderExited(state: ExecutionState, exit: Exit): ExecutionState {
  switch (state.kind) {
    case "running":
    case "paused":
      return { kind: "draining", pid: state.pid, exit, cause: null }
    case "stopping":
      return { kind: "draining", pid: state.pid, exit, cause: state.cause }
    case "queued":
    case "starting":
    case "draining":
    case "ended":
      return state
  }
}

function emptied(state: ExecutionState): ExecutionState {
  if (state.kind !== "draining") return state
  return ended(
    state.cause === null ? state.exit : { kind: "stopped", cause: state.cause, exit: state.exit },
  )
}

function ended(outcome: Outcome): ExecutionState {
  return { kind: "ended", outcome }
}

/** The exit of the leader where one was seen: never made up, so often null. */
export function exitOf(outcome: Outcome): Exit | null {
  switch (outcome.kind) {
    case "exited":
    case "signaled":
      return outcome
    case "stopped":
      return outcome.exit
    case "failed-to-start":
    case "lost":
      return null
  }
}

/** An end as it is told: codes and names, and no message of somebody's making. */
export function endFacts(outcome: Outcome) {
  const exit = exitOf(outcome)
  return {
    outcome: outcome.kind,
    exit_code: exit?.kind === "exited" ? exit.exitCode : null,
    signal: exit?.kind === "signaled" ? exit.signal : null,
    cause: outcome.kind === "stopped" ? outcome.cause : null,
  }
}
