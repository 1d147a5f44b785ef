import { z } from "zod"
import { SignedReceipt } from "../../../../execution/receipt.ts"
import { methods } from "../../../../protocol/methods.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import {
  aboutExecution,
  bodyOf,
  booleanInQuery,
  numberInQuery,
  readParams,
  readQuery,
} from "../request.ts"
import { pulledBody } from "../streams/pulled-body.ts"
import { bytesIn, partBytes, TranscriptPage } from "../streams/transcript-page.ts"

const read = methods["transcript.read"]
const verify = methods["transcript.verify"]

const { from, limit_bytes, encoding } = read.params.shape
const TranscriptQuery = z.object({ from, limit_bytes: numberInQuery(limit_bytes), encoding })

export const getTranscript: Endpoint = {
  method: "get",
  path: "/executions/:id/transcript",
  access: "caller",
  operationId: "transcriptRead",
  streams: true,
  summary: "Read a part of an execution's transcript",
  description: "Both streams in the order they were written, without waiting for more.",
  query: TranscriptQuery,
  responses: {
    200: {
      description: "The output; continue from `next`.",
      content: json("Transcript", read.result),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "EXPIRED"],
  respond: aboutExecution(async (id, { operations, reportGarbage, streamSlot }, caller, c) => {
    const query = readQuery(c, TranscriptQuery)
    if (!query.ok) return refuse(query.failure)
    const params = { execution_id: id, ...query.value }
    const readPart = (part: typeof params) => operations.readTranscript(caller, part)
    const limitBytes = Math.min(partBytes, params.limit_bytes)
    const first = await readPart({ ...params, limit_bytes: limitBytes })
    if (!first.ok) return refuse(first.failure)
    const { ended } = first.value
    if (ended || bytesIn(first.value) >= params.limit_bytes) return Response.json(first.value)
    const headers = { "Content-Type": "application/json" }
    const page = new TranscriptPage(first.value, params, readPart)
    return new Response(pulledBody(page, { reportGarbage, streamSlot }), { headers })
  }),
}

const { scrollback, form } = methods.screen.params.shape
const ScreenQuery = z.object({ scrollback: numberInQuery(scrollback), form })

export const getScreen: Endpoint = {
  method: "get",
  path: "/executions/:id/screen",
  access: "caller",
  operationId: "screen",
  summary: "Get what the terminal of an execution shows",
  description: "Now, or at its end. Executions without a terminal have none.",
  query: ScreenQuery,
  responses: {
    200: { description: "The screen.", content: json("Screen", methods.screen.result) },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "EXPIRED"],
  respond: aboutExecution(async (id, { operations }, caller, c) => {
    const query = readQuery(c, ScreenQuery)
    if (!query.ok) return refuse(query.failure)
    return answer(await operations.screen(caller, { execution_id: id, ...query.value }))
  }),
}

const search = methods["transcript.search"]
const { text, stream, ignore_case, limit } = search.params.shape
const SearchQuery = z.object({
  text,
  stream,
  from,
  ignore_case: booleanInQuery(ignore_case),
  limit: numberInQuery(limit),
})

export const getSearch: Endpoint = {
  method: "get",
  path: "/executions/:id/search",
  access: "caller",
  operationId: "transcriptSearch",
  summary: "Find the lines of an execution's output that contain a text",
  description:
    "A request searches for a fraction of a second: continue from `next` until it is `complete`.",
  query: SearchQuery,
  responses: {
    200: { description: "Lines, in order.", content: json("SearchResult", search.result) },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "EXPIRED"],
  respond: aboutExecution(async (id, { operations }, caller, c) => {
    const query = readQuery(c, SearchQuery)
    if (!query.ok) return refuse(query.failure)
    return answer(await operations.search(caller, { execution_id: id, ...query.value }))
  }),
}

export const getReceipt: Endpoint = {
  method: "get",
  path: "/executions/:id/receipt",
  access: "caller",
  operationId: "receipt",
  summary: "Get the signed receipt of an ended execution",
  responses: {
    200: {
      description: "A DSSE envelope: the signature is over the payload's exact bytes.",
      content: json("SignedReceipt", SignedReceipt),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  respond: aboutExecution(async (id, { operations }, caller) =>
    answer(await operations.receipt(caller, id)),
  ),
}

export const postVerify: Endpoint = {
  method: "post",
  path: "/executions/:id/verify",
  access: "caller",
  operationId: "transcriptVerify",
  summary: "Check a claim about an execution's output against its record",
  description: "Without a claim, and without a body, only the record itself is checked.",
  body: json("VerifyRequest", bodyOf(verify.params)),
  responses: {
    200: { description: "What was found.", content: json("Verification", verify.result) },
  },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "PROCESS_NOT_FOUND", "EXPIRED"],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, verify.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.verify(caller, params.value))
  },
}
