import { z } from "zod"
import { notifyMethods } from "../../../../protocol/notify.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import { numberInQuery, readParams, readQuery } from "../request.ts"

const list = notifyMethods["notify.list"]
const test = notifyMethods["notify.test"]
const { limit, ...filters } = list.params.unwrap().shape
const ListQuery = z.object({ ...filters, limit: numberInQuery(limit) })

export const getNotifications: Endpoint = {
  method: "get",
  path: "/notifications",
  access: "caller",
  operationId: "listNotifications",
  summary: "List targets and what was, or is to be, delivered to them",
  query: ListQuery,
  responses: {
    200: {
      description: "One page, newest first; `cursor` is present if another page follows.",
      content: json("NotificationList", list.result),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND"],
  async respond(c, { operations }, caller) {
    const query = readQuery(c, ListQuery)
    if (!query.ok) return refuse(query.failure)
    return answer(await operations.notify.list(caller, query.value))
  },
}

export const postNotificationTest: Endpoint = {
  method: "post",
  path: "/notifications/test",
  access: "caller",
  operationId: "testNotification",
  summary: "Send a test message to a target",
  body: json("NotificationTest", test.params),
  responses: {
    200: {
      description: "What became of it, after one attempt: see `state`.",
      content: json("Delivery", test.result),
    },
  },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "DISK_FULL"],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, test.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.notify.test(caller, params.value))
  },
}
