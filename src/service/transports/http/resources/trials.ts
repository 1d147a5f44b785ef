import { TrialId } from "../../../../execution/trial/announcement.ts"
import { trialMethods } from "../../../../protocol/trial.ts"
import type { Caller } from "../../../access/caller.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import type { HttpContext, RoutePorts } from "../ports.ts"
import { parse, readKeyedBody, readQuery } from "../request.ts"

const begin = trialMethods["trial.begin"]
const list = trialMethods["trial.list"]

export const postTrials: Endpoint = {
  method: "post",
  path: "/trials",
  access: "caller",
  operationId: "beginTrial",
  summary: "Announce a trial",
  description:
    "Its steps are then started by `POST /executions` and `POST /agents` with `trial` and `step` " +
    "or `role`.",
  body: json("TrialBegin", begin.params),
  requestHeaders: { "Idempotency-Key": "the same as `idempotency_key` in the body" },
  responses: {
    201: { description: "It is announced.", content: json("TrialBegun", begin.result) },
    200: {
      description: "The idempotency key found this earlier trial.",
      content: json("TrialBegun", begin.result),
    },
  },
  refusals: [
    "PARSE_ERROR",
    "INVALID_PARAMS",
    "NOT_ANNOUNCED",
    "WRONG_STATE",
    "IDEMPOTENCY_MISMATCH",
    "DISK_FULL",
    "SHUTTING_DOWN",
  ],
  async respond(c, { operations }, caller) {
    const body = await readKeyedBody(c)
    if (!body.ok) return refuse(body.failure)
    const params = parse(begin.params, body.value)
    if (!params.ok) return refuse(params.failure)
    const begun = await operations.trials.begin(caller, params.value)
    if (!begun.ok) return refuse(begun.failure)
    const headers = { Location: `/trials/${begun.value.trial}` }
    return Response.json(begun.value, {
      status: begun.value.repeated === true ? 200 : 201,
      headers,
    })
  },
}

export const getTrials: Endpoint = {
  method: "get",
  path: "/trials",
  access: "caller",
  operationId: "listTrials",
  summary: "List the trials of a chain, in the order of their numbers",
  query: list.params,
  responses: {
    200: { description: "With their attestations.", content: json("TrialList", list.result) },
  },
  refusals: ["INVALID_PARAMS"],
  async respond(c, { operations }, caller) {
    const query = readQuery(c, list.params)
    if (!query.ok) return refuse(query.failure)
    return answer(await operations.trials.list(caller, query.value))
  },
}

export const getTrial: Endpoint = {
  method: "get",
  path: "/trials/:id",
  access: "caller",
  operationId: "trialStatus",
  summary: "Show a trial and how far its steps are",
  responses: {
    200: {
      description: "Its announcement, steps, and attestation once it has one.",
      content: json("TrialStatus", trialMethods["trial.status"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "TRIAL_NOT_FOUND"],
  respond: aboutTrial(async (trial, { operations }, caller) =>
    answer(await operations.trials.status(caller, { trial })),
  ),
}

export const postTrialRenew: Endpoint = {
  method: "post",
  path: "/trials/:id/renew",
  access: "caller",
  operationId: "renewTrial",
  summary: "Renew the lease of an open trial",
  responses: {
    200: {
      description: "It stays open for so long again.",
      content: json("TrialRenewed", trialMethods["trial.renew"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "TRIAL_NOT_FOUND", "WRONG_STATE", "SHUTTING_DOWN"],
  respond: aboutTrial(async (trial, { operations }, caller) =>
    answer(await operations.trials.renew(caller, { trial })),
  ),
}

export const postTrialEnd: Endpoint = {
  method: "post",
  path: "/trials/:id/end",
  access: "caller",
  operationId: "endTrial",
  summary: "Have a trial judged",
  description: "However often it is asked: there is one verdict, and one attestation of it.",
  responses: {
    200: {
      description: "The verdict and its signed attestation.",
      content: json("TrialEnded", trialMethods["trial.end"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "TRIAL_NOT_FOUND", "WRONG_STATE", "DISK_FULL", "SHUTTING_DOWN"],
  respond: aboutTrial(async (trial, { operations }, caller) =>
    answer(await operations.trials.end(caller, { trial })),
  ),
}

function aboutTrial(
  respond: (trial: TrialId, ports: RoutePorts, caller: Caller) => Promise<Response>,
) {
  return async (c: HttpContext, ports: RoutePorts, caller: Caller) => {
    const trial = parse(TrialId, c.req.param("id"))
    return trial.ok ? respond(trial.value, ports, caller) : refuse(trial.failure)
  }
}
