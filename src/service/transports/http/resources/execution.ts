import { ExecutionView, viewOf } from "../../../../protocol/execution-view.ts"
import { ControlParams, ControlResult, methods } from "../../../../protocol/methods.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import { aboutExecution, bodyOf, readParams } from "../request.ts"

export const getExecution: Endpoint = {
  method: "get",
  path: "/executions/:id",
  access: "caller",
  operationId: "status",
  summary: "Show an execution",
  responses: {
    200: { description: "Its current state.", content: json("Execution", ExecutionView) },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND"],
  respond: aboutExecution(async (id, { operations }, caller) => {
    const record = await operations.status(caller, id)
    return record.ok ? Response.json(viewOf(record.value)) : refuse(record.failure)
  }),
}

export const deleteExecution: Endpoint = {
  method: "delete",
  path: "/executions/:id",
  access: "caller",
  operationId: "remove",
  summary: "Remove an ended execution and its transcript",
  responses: {
    200: { description: "It was removed.", content: json("Nothing", methods.remove.result) },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  respond: aboutExecution(async (id, { operations }, caller) =>
    answer(await operations.remove(caller, id)),
  ),
}

export const postControl: Endpoint = {
  method: "post",
  path: "/executions/:id/control",
  access: "caller",
  operationId: "control",
  summary: "Pause, resume, cancel or signal an execution",
  description: "The response to `CANCEL` comes when the whole process tree is gone.",
  body: json("ControlRequest", bodyOf(ControlParams)),
  responses: {
    200: { description: "It was done.", content: json("ControlResult", ControlResult) },
  },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  respond: aboutExecution(async (id, { operations }, caller, c) => {
    const params = await readParams(c, ControlParams)
    if (!params.ok) return refuse(params.failure)
    const { type, signal } = params.value
    return answer(await operations.control(caller, id, { type, signal }))
  }),
}

export const postResize: Endpoint = {
  method: "post",
  path: "/executions/:id/resize",
  access: "caller",
  operationId: "resize",
  summary: "Change the size of an execution's terminal",
  body: json("ResizeRequest", bodyOf(methods.resize.params)),
  responses: {
    200: {
      description: "The terminal was resized.",
      content: json("Nothing", methods.resize.result),
    },
  },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE"],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, methods.resize.params)
    if (!params.ok) return refuse(params.failure)
    const { execution_id, ...size } = params.value
    return answer(await operations.resize(caller, execution_id, size))
  },
}
