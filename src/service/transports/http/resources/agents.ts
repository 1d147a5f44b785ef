import { z } from "zod"
import { agentMethods } from "../../../../protocol/agent.ts"
import { AttachParams } from "../../../../protocol/methods.ts"
import { notifications } from "../../../../protocol/notifications.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import {
  aboutExecution,
  bodyOf,
  labelsInQuery,
  parse,
  readKeyedBody,
  readLabels,
  readParams,
  readQuery,
} from "../request.ts"
import { idAfterEnd } from "../streams/output-events.ts"
import { eventResponse } from "../streams/pulled-body.ts"
import { SessionEvent, SessionEvents } from "../streams/session-events.ts"

const start = agentMethods["agent.start"]
const send = agentMethods["agent.send"]
const answering = agentMethods["agent.answer"]
const configure = agentMethods["agent.configure"]
const nothing = json("Nothing", answering.result)

export const postAgents: Endpoint = {
  method: "post",
  path: "/agents",
  access: "caller",
  operationId: "startAgent",
  summary: "Start an agent's session",
  description:
    "Responds once it is started or queued; what happens in it comes from `/agents/{id}/events`.",
  body: json("AgentStart", start.params),
  requestHeaders: { "Idempotency-Key": "the same as `idempotency_key` in the body" },
  responses: {
    201: { description: "It was started or queued.", content: json("AgentStarted", start.result) },
    200: {
      description: "The idempotency key found this earlier session.",
      content: json("AgentStarted", start.result),
    },
  },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "SECURITY_DENIED",
    "SPAWN_FAILED",
    "SESSION_BUSY",
    "GIT_REFUSED",
    "AT_CAPACITY",
    "IDEMPOTENCY_MISMATCH",
    "TRIAL_NOT_FOUND",
    "NOT_ANNOUNCED",
    "WRONG_STATE",
    "DISK_FULL",
    "SHUTTING_DOWN",
  ],
  async respond(c, { operations }, caller) {
    const body = await readKeyedBody(c)
    if (!body.ok) return refuse(body.failure)
    const params = parse(start.params, body.value, operations.policy)
    if (!params.ok) return refuse(params.failure)
    const started = await operations.agents.start(caller, params.value)
    if (!started.ok) return refuse(started.failure)
    const headers = { Location: `/agents/${started.value.execution_id}` }
    const status = started.value.repeated === true ? 200 : 201
    return Response.json(started.value, { status, headers })
  },
}

export const getAgent: Endpoint = {
  method: "get",
  path: "/agents/:id",
  access: "caller",
  operationId: "agentStatus",
  summary: "Show how an agent's session stands",
  responses: {
    200: {
      description: "What it does, what it asks, what it has used.",
      content: json("AgentStatus", agentMethods["agent.status"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  respond: aboutExecution(async (execution_id, { operations }, caller) =>
    answer(await operations.agents.status(caller, { execution_id })),
  ),
}

export const postTurns: Endpoint = {
  method: "post",
  path: "/agents/:id/turns",
  access: "caller",
  operationId: "sendTurn",
  summary: "Send an agent a turn",
  description: "Responds once the turn is in the session's record.",
  body: json("AgentTurn", bodyOf(send.params)),
  responses: {
    200: { description: "It was accepted.", content: json("AgentTurnAccepted", send.result) },
  },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "PROCESS_NOT_FOUND",
    "WRONG_STATE",
    "OUTCOME_UNKNOWN",
  ],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, send.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.agents.send(caller, params.value))
  },
}

export const postAnswers: Endpoint = {
  method: "post",
  path: "/agents/:id/answers",
  access: "caller",
  operationId: "answerQuestion",
  summary: "Answer a question of an agent",
  description: "The first answer counts; others are told whose it was.",
  body: json("AgentAnswer", bodyOf(answering.params)),
  responses: { 200: { description: "The agent was told.", content: nothing } },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "PROCESS_NOT_FOUND",
    "WRONG_STATE",
    "ALREADY_ANSWERED",
    "OUTCOME_UNKNOWN",
  ],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, answering.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.agents.answer(caller, params.value))
  },
}

export const postInterrupt: Endpoint = {
  method: "post",
  path: "/agents/:id/interrupt",
  access: "caller",
  operationId: "interruptAgent",
  summary: "Interrupt the turn that is under way",
  responses: { 200: { description: "The turn has ended.", content: nothing } },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "OUTCOME_UNKNOWN"],
  respond: aboutExecution(async (execution_id, { operations }, caller) =>
    answer(await operations.agents.interrupt(caller, { execution_id })),
  ),
}

export const postEnd: Endpoint = {
  method: "post",
  path: "/agents/:id/end",
  access: "caller",
  operationId: "endAgent",
  summary: "End a session when its turn has ended",
  responses: { 200: { description: "It will end.", content: nothing } },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "OUTCOME_UNKNOWN"],
  respond: aboutExecution(async (execution_id, { operations }, caller) =>
    answer(await operations.agents.end(caller, { execution_id })),
  ),
}

export const postConfigure: Endpoint = {
  method: "post",
  path: "/agents/:id/configure",
  access: "caller",
  operationId: "configureAgent",
  summary: "Change the model or the permission mode of a session",
  body: json("AgentConfiguration", bodyOf(configure.params)),
  responses: { 200: { description: "It was changed.", content: nothing } },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "PROCESS_NOT_FOUND",
    "WRONG_STATE",
    "OUTCOME_UNKNOWN",
  ],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, configure.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.agents.configure(caller, params.value))
  },
}

const EventsQuery = z.object({ from: AttachParams.shape.from })

export const getAgentEvents: Endpoint = {
  method: "get",
  path: "/agents/:id/events",
  access: "caller",
  operationId: "agentEvents",
  streams: true,
  summary: "Stream what happens in an agent's session",
  description:
    "Server-sent events, each an event of the session under its own name, `completed` last. " +
    "Where an event has an id, it is the cursor to continue from. After a new connection, events " +
    "may come again: `n` tells.",
  query: EventsQuery,
  requestHeaders: { "Last-Event-ID": "continue from there, whatever `from` says" },
  responses: {
    200: {
      description: "Events as they happen.",
      content: {
        "text/event-stream": {
          events: {
            message: { name: "SessionEvent", schema: SessionEvent },
            gap: { name: "Gap", schema: notifications["process.gap"] },
            completed: { name: "Completed", schema: notifications["process.completed"] },
            failure: { name: "OutputFailure", schema: notifications["process.error"] },
          },
        },
      },
    },
    204: { description: "`Last-Event-ID` is the one of `completed`: nothing more follows." },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "EXPIRED"],
  respond: aboutExecution(async (id, ports, caller, c) => {
    const query = readQuery(c, EventsQuery)
    if (!query.ok) return refuse(query.failure)
    const from = parse(AttachParams.shape.from, c.req.header("last-event-id") || query.value.from)
    if (!from.ok) return refuse(from.failure)
    if (from.value === idAfterEnd) return new Response(null, { status: 204 })
    const feed = await ports.operations.open(caller, id, from.value)
    if (!feed.ok) return refuse(feed.failure)
    return eventResponse(new SessionEvents(feed.value, ports.after), ports, {})
  }),
}

const InboxQuery = z.object({ label: labelsInQuery })

export const getInbox: Endpoint = {
  method: "get",
  path: "/inbox",
  access: "caller",
  operationId: "inbox",
  summary: "List the questions that agents have asked and nobody has answered",
  query: InboxQuery,
  responses: {
    200: {
      description: "Those that the caller may answer.",
      content: json("Inbox", agentMethods["agent.inbox"].result),
    },
  },
  refusals: ["INVALID_PARAMS"],
  async respond(c, { operations }, caller) {
    const query = readQuery(c, InboxQuery)
    if (!query.ok) return refuse(query.failure)
    const labels = readLabels(query.value.label)
    if (!labels.ok) return refuse(labels.failure)
    return answer(await operations.agents.inbox(caller, { labels: labels.value }))
  },
}
