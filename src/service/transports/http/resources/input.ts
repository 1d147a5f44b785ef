import { z } from "zod"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { failure } from "../../../../protocol/failure.ts"
import { InputParams, InputResult, maxInputBytes } from "../../../../protocol/methods.ts"
import type { Operations } from "../../../gateway/ports.ts"
import { answer, type HttpFailure, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import type { HttpContext } from "../ports.ts"
import {
  aboutExecution,
  bodyOf,
  booleanInQuery,
  mediaType,
  numberInQuery,
  readParams,
  readQuery,
} from "../request.ts"

const fields = InputParams.shape
const InputQuery = z.object({
  end: booleanInQuery(fields.end).describe(
    "with raw bytes: close the child's standard input afterwards",
  ),
  writer: fields.writer.describe("with raw bytes: a name that the client has made up for itself"),
  offset: numberInQuery(fields.offset).describe(
    "with raw bytes: bytes sent before, by this `writer` or else by everybody",
  ),
})

export const postInput: Endpoint = {
  method: "post",
  path: "/executions/:id/input",
  access: "caller",
  operationId: "input",
  summary: "Write to an execution's standard input",
  description: "At most 1 MiB per request; responds once the child's pipe has taken it.",
  query: InputQuery,
  body: {
    ...json("InputRequest", bodyOf(InputParams)),
    "application/octet-stream": "bytes",
  },
  responses: { 200: { description: "It was taken.", content: json("InputResult", InputResult) } },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  respond: aboutExecution(async (id, { operations }, caller, c) => {
    const input = await readInput(c)
    if (!input.ok) return refuse(input.failure)
    if (input.value.data.length > maxInputBytes) return refuse(tooMuch)
    return answer(await operations.input(caller, id, input.value))
  }),
}

type Input = Parameters<Operations["input"]>[2]

async function readInput(c: HttpContext): Promise<Result<Input, HttpFailure>> {
  if (mediaType(c) === "application/octet-stream") {
    const query = readQuery(c, InputQuery)
    if (!query.ok) return query
    return ok({ data: new Uint8Array(await c.req.arrayBuffer()), ...query.value })
  }
  const params = await readParams(c, InputParams)
  if (!params.ok) return params
  const { data, encoding, end, writer, offset } = params.value
  const bytes = encoding === "utf8" ? new TextEncoder().encode(data) : fromBase64(data)
  return bytes === null ? fail(notBase64) : ok({ data: bytes, end, writer, offset })
}

const tooMuch: HttpFailure = {
  ...failure("INVALID_PARAMS", "Input may have at most 1 MiB per request: send it in parts.", {
    limit_bytes: maxInputBytes,
  }),
  httpStatus: 413,
}

const notBase64 = failure("INVALID_PARAMS", "`data` is not base64, although `encoding` says so.")

function fromBase64(text: string): Input["data"] | null {
  try {
    return Uint8Array.fromBase64(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
