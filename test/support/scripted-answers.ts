import type { Encoding } from "../../src/protocol/execute.ts"
import { type Failure, failure } from "../../src/protocol/failure.ts"
import { type MethodName, methods } from "../../src/protocol/methods.ts"
import type { ScriptedExecution } from "./scripted-execution.ts"
import type { ScriptedServer } from "./scripted-server.ts"
import { type ScriptedSocket, ScriptedSubscription } from "./scripted-subscription.ts"

export type GivenParams = Record<string, unknown>
type Answer = Failure | object

/** Does what a request asks and answers as the real server would. */
export function answerTo(
  server: ScriptedServer,
  socket: ScriptedSocket,
  method: MethodName,
  given: GivenParams,
): Answer {
  if (method === "execute") return execute(server, socket, given)
  if (method === "watch") {
    socket.data.watching = methods.watch.params.parse(given).labels ?? {}
    return {}
  }
  if (method === "list") return list(server, given)
  const execution = server.find(String(given["execution_id"]))
  if (execution === null) return failure("PROCESS_NOT_FOUND", "There is no such execution.")
  switch (method) {
    case "attach":
      return attach(socket, execution, given)
    case "detach":
      return detach(socket, execution)
    case "status":
      return execution.view()
    case "remove":
      server.executions.splice(server.executions.indexOf(execution), 1)
      return {}
    case "control":
      return control(server, execution, given)
    case "input":
      return takeInput(execution, given)
    case "resize":
    case "ack":
      return {}
    case "node.list":
    case "node.drain":
    case "node.undrain":
    case "node.forget":
    case "notify.list":
    case "notify.test":
    case "trial.begin":
    case "trial.renew":
    case "trial.end":
    case "trial.status":
    case "trial.list":
    case "agent.start":
    case "agent.send":
    case "agent.answer":
    case "agent.interrupt":
    case "agent.end":
    case "agent.configure":
    case "agent.status":
    case "agent.inbox":
    case "agent.changes":
    case "agent.take":
    case "agent.drop":
    case "receipt":
    case "screen":
    case "transcript.search":
    case "transcript.read":
    case "transcript.verify":
      return failure("METHOD_NOT_FOUND", "This method is not scripted.")
  }
}

function execute(server: ScriptedServer, socket: ScriptedSocket, given: GivenParams): Answer {
  const params = methods.execute.params.parse(given)
  const key = params.idempotency_key ?? null
  const earlier = server.executions.find((execution) => key !== null && execution.key === key)
  const execution = earlier ?? server.add(params.labels, key)
  if (earlier === undefined) server.onExecute(execution)
  // Where a repeated one is subscribed is not said, so here it is not where one would hope.
  const index = earlier === undefined ? 0 : Math.min(1, execution.records.length)
  const { number: subscription } = subscribe(socket, execution, index, params.encoding)
  const { id: execution_id, pid, state } = execution
  const repeated = earlier === undefined ? {} : { repeated: true }
  const more = { subscription, ...ackAfter(execution, params), ...repeated }
  if (state === "queued") return { status: "queued", execution_id, ...more }
  return { status: "started", execution_id, pid, pgid: pid, ...more }
}

function attach(socket: ScriptedSocket, execution: ScriptedExecution, given: GivenParams): Answer {
  const params = methods.attach.params.parse(given)
  if (execution.isExpired) return failure("EXPIRED", "The transcript is no longer kept.")
  const index = execution.indexOf(params.from)
  const { number: subscription } = subscribe(socket, execution, index, params.encoding)
  const { id: execution_id, state } = execution
  const where = { from: `at-${index}`, available_from: "at-0" }
  return { execution_id, state, ...where, subscription, ...ackAfter(execution, params) }
}

function ackAfter(
  { ackAfterBytes }: ScriptedExecution,
  { acknowledges }: { acknowledges?: boolean | undefined },
): object {
  return ackAfterBytes === null || acknowledges !== true ? {} : { ack_after_bytes: ackAfterBytes }
}

function detach(socket: ScriptedSocket, execution: ScriptedExecution): Answer {
  socket.data.subscriptions.get(execution.id)?.cancel()
  socket.data.subscriptions.delete(execution.id)
  return {}
}

function subscribe(
  socket: ScriptedSocket,
  execution: ScriptedExecution,
  index: number,
  encoding: Encoding,
): ScriptedSubscription {
  detach(socket, execution)
  // Numbers begin anew in every session: a client that mixes sessions up shows it.
  const number = socket.data.subscriptions.size + 1
  const subscription = new ScriptedSubscription(socket, number, execution, index, encoding)
  socket.data.subscriptions.set(execution.id, subscription)
  return subscription
}

function control(server: ScriptedServer, execution: ScriptedExecution, given: GivenParams): Answer {
  const { type } = methods.control.params.parse(given)
  if (execution.state === "ended") return failure("WRONG_STATE", "It has ended.")
  const { id: execution_id } = execution
  switch (type) {
    case "SIGNAL":
      return { status: "signaled", execution_id, processes: 1 }
    case "PAUSE":
      server.change(execution, "paused")
      return { status: "paused", execution_id }
    case "RESUME":
      if (execution.state !== "paused") return failure("WRONG_STATE", "It is not paused.")
      server.change(execution, "running")
      return { status: "resumed", execution_id }
    case "CANCEL": {
      server.complete(execution, null)
      const { stopped: processes, survivors } = execution.view()
      return { status: "canceled", execution_id, processes, survivors }
    }
  }
}

function list(server: ScriptedServer, given: GivenParams): Answer {
  const { state, labels, limit } = methods.list.params.parse(given)
  const executions = server.executions
    .filter((execution) => state === undefined || execution.state === state)
    .filter((execution) => execution.has(labels ?? {}))
    .map((execution) => execution.view())
    .toReversed()
  return { executions: executions.slice(0, limit) }
}

function takeInput(execution: ScriptedExecution, given: GivenParams): Answer {
  const { data, encoding, end, writer: name = "", offset } = methods.input.params.parse(given)
  const writer = { principal: "somebody", name }
  const bytes = encoding === "base64" ? Uint8Array.fromBase64(data) : Buffer.from(data)
  const before = execution.inputOffsets.of(writer)
  if (offset !== undefined && offset > before) {
    return failure("INVALID_PARAMS", "It would leave a gap.", { offset: before })
  }
  const fresh = bytes.subarray(Math.max(0, before - (offset ?? before)))
  const isRepeated = offset !== undefined && fresh.length === 0
  if ((execution.inputIsClosed || execution.state === "ended") && !isRepeated) {
    return failure("WRONG_STATE", "Its standard input is closed.")
  }
  execution.input = Buffer.concat([execution.input, fresh])
  execution.inputOffsets.add(writer, fresh.length, () => false)
  execution.inputIsClosed ||= end
  return { accepted: fresh.length, offset: execution.inputOffsets.of(writer) }
}
