import { worktreeMethods } from "../../../../protocol/worktree.ts"
import { answer, refuse } from "../answer.ts"
import { type Endpoint, json } from "../endpoint.ts"
import { aboutExecution, bodyOf, readParams } from "../request.ts"

const drop = worktreeMethods["agent.drop"]

export const getChanges: Endpoint = {
  method: "get",
  path: "/agents/:id/changes",
  access: "caller",
  operationId: "agentChanges",
  summary: "Show what has changed in the worktree of a session",
  responses: {
    200: {
      description: "What the branch that it was made from does not have.",
      content: json("AgentChanges", worktreeMethods["agent.changes"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "GIT_REFUSED"],
  respond: aboutExecution(async (execution_id, { operations }, caller) =>
    answer(await operations.agents.changes(caller, { execution_id })),
  ),
}

export const postTake: Endpoint = {
  method: "post",
  path: "/agents/:id/take",
  access: "caller",
  operationId: "takeWorktree",
  summary: "Take what has changed in the worktree of a session, and remove the worktree",
  description: "What would conflict is refused, and nothing is changed then.",
  responses: {
    200: {
      description: "It is in the checkout that the worktree was made from.",
      content: json("AgentTaken", worktreeMethods["agent.take"].result),
    },
  },
  refusals: ["INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "GIT_REFUSED"],
  respond: aboutExecution(async (execution_id, { operations }, caller) =>
    answer(await operations.agents.take(caller, { execution_id })),
  ),
}

export const postDrop: Endpoint = {
  method: "post",
  path: "/agents/:id/drop",
  access: "caller",
  operationId: "dropWorktree",
  summary: "Remove the worktree of a session",
  description: "Work that is nowhere else is only dropped with `force`.",
  body: json("AgentDrop", bodyOf(drop.params)),
  responses: { 200: { description: "It is gone.", content: json("AgentDropped", drop.result) } },
  refusals: ["PARSE_ERROR", "INVALID_PARAMS", "PROCESS_NOT_FOUND", "WRONG_STATE", "GIT_REFUSED"],
  async respond(c, { operations }, caller) {
    const params = await readParams(c, drop.params)
    if (!params.ok) return refuse(params.failure)
    return answer(await operations.agents.drop(caller, params.value))
  },
}
