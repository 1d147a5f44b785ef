import {
  type AnswerMessage,
  keyOf,
  type MessageId,
  type RequestMessage,
  type Unreadable,
  wordOf,
} from "./messages/message.ts"
import type { BridgeClock } from "./ports.ts"
import type { OpenCircuit } from "./targets/breaker.ts"

/** An error with which the bridge itself answers: what happened, why, and what to do. */
export type Problem = { code: number; reason: ProblemReason; message: string }

export type ProblemReason =
  | "UNREADABLE"
  | "DUPLICATE_ID"
  | "TOO_LARGE"
  | "TOO_MANY"
  | "TARGET_UNREACHABLE"
  | "TARGET_REFUSED"
  | "TARGET_UNREADABLE"
  | "CIRCUIT_OPEN"
  | "CONNECTION_LOST"
  | "MAY_HAVE_BEEN_DONE"
  | "BRIDGE_ENDS"

/** In the range that JSON-RPC leaves to servers; MCP clients read it as a lost connection. */
const connectionTrouble = -32000
const invalidRequest = -32600

export function problem(reason: ProblemReason, message: string): Problem {
  const isClients = reason === "DUPLICATE_ID" || reason === "TOO_LARGE"
  return { code: isClients ? invalidRequest : connectionTrouble, reason, message }
}

export function problemAnswer(
  id: MessageId | null,
  { code, reason, message }: Problem,
): AnswerMessage {
  const error = { code, message, data: { reason, from: "cc-executor bridge" } }
  const text = JSON.stringify({ jsonrpc: "2.0", id, error })
  return { kind: "answer", text, key: id === null ? null : keyOf(id), result: null, error }
}

export function unreachable(target: string, why: string, wasSent: boolean): Problem {
  const done = wasSent
    ? "This request was sent before the connection was lost, and may have been carried out."
    : "This request was not carried out."
  return problem(
    "TARGET_UNREACHABLE",
    `${target} cannot be reached: ${asClause(why)}. ${done} ` +
      "Check that it is running, then send the request again.",
  )
}

export function refusedBy(target: string, why: string): Problem {
  return problem("TARGET_REFUSED", `${target} refused: ${asClause(why)}.`)
}

/** Some reasons end with a full stop of their own. */
function asClause(why: string): string {
  return why.replace(/\.$/, "")
}

export function circuitOpen(target: string, circuit: OpenCircuit, clock: BridgeClock): Problem {
  const nowMs = clock.monotonicMs()
  const since = new Date(clock.wallMs() - (nowMs - circuit.sinceMs)).toISOString()
  const againS = Math.max(0, Math.ceil((circuit.untilMs - nowMs) / 1000))
  return problem(
    "CIRCUIT_OPEN",
    `The circuit to ${target} has been open since ${since}, after repeated failures; the last: ` +
      `${circuit.why}. Nothing is sent there for now. ` +
      `Send the request again in ${againS} s.`,
  )
}

export function lostWithoutRepeat(target: string, method: string, why: string): Problem {
  return problem(
    "CONNECTION_LOST",
    `The connection to ${target} was lost while it answered this ${method}: ${why}. ` +
      "The answer so far may be incomplete, so the request was not sent again. " +
      "Find out whether it was carried out before you repeat it.",
  )
}

export function mayHaveBeenDone(target: string, call: RequestMessage, why: string): Problem {
  const tool = wordOf(call.params["name"])
  return problem(
    "MAY_HAVE_BEEN_DONE",
    `The connection to ${target} was lost before it answered: ${why}. The tool ${tool} says that ` +
      "repeating a call is not safe, and this call may have been carried out, so it " +
      "was not sent again. Find out whether it was before you repeat it.",
  )
}

export function gaveUpRepeating(target: string, tries: number, why: string): Problem {
  return problem(
    "CONNECTION_LOST",
    `This request was sent to ${target} ${tries} times, and each time the connection was lost ` +
      `before an answer came (last: ${why}). It may have been carried out.`,
  )
}

export function unreadableAnswer({ id, code, why }: Unreadable): AnswerMessage {
  const message = `${why} It was not forwarded: send one JSON-RPC message at a time.`
  return problemAnswer(id, { code, reason: "UNREADABLE", message })
}
