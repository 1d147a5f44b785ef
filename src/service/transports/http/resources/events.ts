import { z } from "zod"
import type { ExecutionRecord } from "../../../../execution/record.ts"
import { ExecutionView } from "../../../../protocol/execution-view.ts"
import { refuse } from "../answer.ts"
import type { Endpoint } from "../endpoint.ts"
import { labelsInQuery, readLabels, readQuery } from "../request.ts"
import { ChangeEvents } from "../streams/change-events.ts"
import { eventResponse } from "../streams/pulled-body.ts"

const EventsQuery = z.object({ label: labelsInQuery })

export const getEvents: Endpoint = {
  method: "get",
  path: "/events",
  access: "caller",
  operationId: "watch",
  streams: true,
  summary: "Watch executions",
  description:
    "Sends every change of state from now on. A reader 1000 changes behind is disconnected: " +
    "list the executions and watch again.",
  query: EventsQuery,
  responses: {
    200: {
      description: "Server-sent events, with a comment every 15 s.",
      content: {
        "text/event-stream": { events: { state: { name: "Execution", schema: ExecutionView } } },
      },
    },
  },
  refusals: ["INVALID_PARAMS"],
  respond(c, { operations, after, reportGarbage, streamSlot }, caller) {
    const query = readQuery(c, EventsQuery)
    if (!query.ok) return refuse(query.failure)
    const labels = readLabels(query.value.label)
    if (!labels.ok) return refuse(labels.failure)
    const events = new ChangeEvents(after, () => caller.isStillGood())
    const tell = (record: ExecutionRecord) => events.changed(record)
    const watching = operations.watch(caller, labels.value, tell)
    if (!watching.ok) return refuse(watching.failure)
    events.owns(watching.value)
    return eventResponse(events, { reportGarbage, streamSlot })
  },
}
