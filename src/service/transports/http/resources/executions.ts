import { z } from "zod"
import { fail, type Result } from "../../../../lib/result.ts"
import { ExecuteParams, ExecuteResult, executeResultOf } from "../../../../protocol/execute.ts"
import { failure } from "../../../../protocol/failure.ts"
import { methods } from "../../../../protocol/methods.ts"
import type { PolicyKind } from "../../../../protocol/notifications.ts"
import { answer, type HttpFailure, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import type { HttpContext } from "../ports.ts"
import {
  labelsInQuery,
  numberInQuery,
  parse,
  readKeyedBody,
  readLabels,
  readQuery,
} from "../request.ts"

const started = {
  headers: { Location: "the execution's own address" },
  content: json("ExecuteResult", ExecuteResult),
}

export const postExecutions: Endpoint = {
  method: "post",
  path: "/executions",
  access: "caller",
  operationId: "execute",
  summary: "Start an execution",
  description:
    "Responds once it is started or queued; read its output from `/executions/{id}/output`. " +
    "`encoding` and `acknowledges` have no meaning here. `on_disconnect: cancel` is refused: it " +
    "stops an execution when its connection is lost, and HTTP requests do not keep one open.",
  requestHeaders: { "Idempotency-Key": "the same as `idempotency_key` in the body" },
  body: json("ExecuteRequest", ExecuteParams),
  responses: {
    201: { description: "It was started or queued.", ...started },
    200: { description: "The idempotency key found this earlier execution.", ...started },
  },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "SECURITY_DENIED",
    "SPAWN_FAILED",
    "AT_CAPACITY",
    "IDEMPOTENCY_MISMATCH",
    "NAME_IN_USE",
    "TRIAL_NOT_FOUND",
    "NOT_ANNOUNCED",
    "WRONG_STATE",
    "DISK_FULL",
    "SHUTTING_DOWN",
  ],
  async respond(c, { operations }, caller) {
    const params = await readExecuteParams(c, operations.policy)
    if (!params.ok) return refuse(params.failure)
    const answered = await operations.execute(caller, params.value, false)
    if (!answered.ok) return refuse(answered.failure)
    const { record, repeated } = answered.value
    const result = executeResultOf(record, repeated)
    if (!result.ok) return refuse(result.failure)
    const headers = { Location: `/executions/${record.id}` }
    return Response.json(result.value, { status: repeated ? 200 : 201, headers })
  },
}

async function readExecuteParams(
  c: HttpContext,
  policy: PolicyKind,
): Promise<Result<ExecuteParams, HttpFailure>> {
  const body = await readKeyedBody(c)
  if (!body.ok) return body
  const params = parse(ExecuteParams, body.value, policy)
  if (!params.ok || params.value.on_disconnect === "keep") return params
  const message = "`on_disconnect: cancel` needs a connection to watch: use the WebSocket."
  return fail(failure("INVALID_PARAMS", message))
}

const { state, limit, cursor } = methods.list.params.unwrap().shape
const ListQuery = z.object({ state, limit: numberInQuery(limit), cursor, label: labelsInQuery })

export const getExecutions: Endpoint = {
  method: "get",
  path: "/executions",
  access: "caller",
  operationId: "list",
  summary: "List executions, newest first",
  query: ListQuery,
  responses: {
    200: {
      description: "One page; `cursor` is present if another page follows.",
      content: json("ExecutionList", methods.list.result),
    },
  },
  refusals: ["INVALID_PARAMS"],
  async respond(c, { operations }, caller) {
    const query = readQuery(c, ListQuery)
    if (!query.ok) return refuse(query.failure)
    const { label, ...rest } = query.value
    const labels = readLabels(label)
    if (!labels.ok) return refuse(labels.failure)
    return answer(await operations.list(caller, { ...rest, labels: labels.value }))
  },
}
