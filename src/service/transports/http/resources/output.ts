import { accepts } from "hono/accepts"
import { z } from "zod"
import { StreamName } from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import { ExecutionView } from "../../../../protocol/execution-view.ts"
import { AttachParams } from "../../../../protocol/methods.ts"
import { notifications } from "../../../../protocol/notifications.ts"
import type { Caller } from "../../../access/caller.ts"
import type { Operations, OutputFeed } from "../../../gateway/ports.ts"
import { type HttpFailure, refuse } from "../answer.ts"
import type { Content, Endpoint } from "../endpoint.ts"
import type { HttpContext, RoutePorts } from "../ports.ts"
import { aboutExecution, booleanInQuery, parse, readQuery } from "../request.ts"
import { idAfterEnd, OutputEvents } from "../streams/output-events.ts"
import { eventResponse, pulledBody } from "../streams/pulled-body.ts"
import { RawOutput } from "../streams/raw-output.ts"

const OutputQuery = z.object({
  from: AttachParams.shape.from,
  stream: StreamName.optional().describe("default: `stdout` for raw bytes, both for events"),
  follow: booleanInQuery(z.boolean().default(true)).describe(
    "wait for more until the execution ends; otherwise stop where the output ends now",
  ),
  encoding: z.enum(["utf8", "base64"]).default("utf8").describe("of `data` in events"),
})
type OutputQuery = z.infer<typeof OutputQuery>

const events: Content = {
  "text/event-stream": {
    events: {
      output: { name: "Output", schema: notifications["process.output"] },
      gap: { name: "Gap", schema: notifications["process.gap"] },
      state: { name: "Execution", schema: ExecutionView },
      completed: { name: "Completed", schema: notifications["process.completed"] },
      failure: { name: "OutputFailure", schema: notifications["process.error"] },
    },
  },
}

export const getOutput: Endpoint = {
  method: "get",
  path: "/executions/:id/output",
  access: "caller",
  operationId: "output",
  streams: true,
  summary: "Stream an execution's output",
  description:
    "With `Accept: text/event-stream`, server-sent events: `state` first, `completed` last, the " +
    "id of each is the cursor to continue from. Otherwise the exact bytes of one stream: a " +
    "gap cannot be shown: if output is dropped while it is read, the connection is aborted. The " +
    "headers of a raw stream come with its first byte.",
  query: OutputQuery,
  requestHeaders: { "Last-Event-ID": "with events: continue from there, whatever `from` says" },
  responses: {
    200: {
      description: "Output as it is written.",
      headers: {
        "X-CC-Execution-State": "the state at the beginning of the response",
        "X-CC-Available-From": "the oldest cursor that is still kept",
        "X-CC-Next": "raw bytes with `follow=false`: the cursor to continue from",
      },
      content: { "application/octet-stream": "bytes", ...events },
    },
    204: { description: "`Last-Event-ID` is the one of `completed`: nothing more follows." },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "EXPIRED"],
  respond: aboutExecution(async (id, ports, caller, c) => {
    const isEvents = wantsEvents(c)
    const query = readOutputQuery(c, isEvents)
    if (!query.ok) return refuse(query.failure)
    if (!isEvents) return rawOutput(id, query.value, caller, ports)
    const { from } = query.value
    if (from === idAfterEnd) return new Response(null, { status: 204 })
    return outputEvents(await ports.operations.open(caller, id, from), query.value, ports)
  }),
}

function readOutputQuery(c: HttpContext, isEvents: boolean): Result<OutputQuery, HttpFailure> {
  const query = readQuery(c, OutputQuery)
  const lastId = c.req.header("last-event-id") ?? ""
  if (!query.ok || !isEvents || lastId === "") return query
  const from = parse(AttachParams.shape.from, lastId)
  return from.ok ? ok({ ...query.value, from: from.value }) : from
}

function wantsEvents(c: HttpContext): boolean {
  const supports = ["application/octet-stream", "text/event-stream"]
  const accepted = accepts(c, { header: "Accept", supports, default: "application/octet-stream" })
  return accepted === "text/event-stream"
}

function outputEvents(
  opened: Result<OutputFeed, HttpFailure>,
  { encoding, stream, follow }: OutputQuery,
  { after, reportGarbage, streamSlot }: RoutePorts,
): Response {
  if (!opened.ok) return refuse(opened.failure)
  const feed = opened.value
  const headers = factsOf(feed)
  const untilSequence = follow ? null : feed.record().transcript.end.sequence
  const options = { encoding, stream: stream ?? null, untilSequence }
  return eventResponse(
    new OutputEvents(feed, options, after),
    { reportGarbage, streamSlot },
    headers,
  )
}

async function rawOutput(
  id: string,
  { from, stream = "stdout", follow }: OutputQuery,
  caller: Caller,
  { operations, reportGarbage, streamSlot }: RoutePorts,
): Promise<Response> {
  const end = follow ? ok(null) : await presentEnd(id, caller, operations)
  if (!end.ok) return refuse(end.failure)
  const opened = await operations.open(caller, id, from)
  if (!opened.ok) return refuse(opened.failure)
  const feed = opened.value
  const untilSequence = end.value?.sequence ?? null
  using owned = new DisposableStack()
  const output = owned.use(new RawOutput(feed, { stream, untilSequence }))

  const headers = factsOf(feed)
  if (end.value !== null) {
    const isBeyond = feed.position().sequence > end.value.sequence
    headers["X-CC-Next"] = isBeyond ? feed.from : end.value.cursor
  }
  const begun = output.begin()
  if (!begun.ok) return refuse(begun.failure, headers)
  const response = new Response(pulledBody(output, { reportGarbage, streamSlot }), {
    headers: { ...headers, "Content-Type": "application/octet-stream" },
  })
  owned.move() // the body disposes it
  return response
}

/** A reader that begins at the end is the only one who knows the cursor there. */
async function presentEnd(
  id: string,
  caller: Caller,
  operations: Operations,
): Promise<Result<{ sequence: number; cursor: string }, HttpFailure>> {
  const tail = await operations.open(caller, id, "tail")
  if (!tail.ok) return tail
  using feed = tail.value
  return ok({ sequence: feed.position().sequence, cursor: feed.from })
}

function factsOf(feed: OutputFeed): Record<string, string> {
  return {
    "X-CC-Execution-State": feed.record().state.kind,
    "X-CC-Available-From": feed.availableFrom,
    Vary: "Accept",
  }
}
