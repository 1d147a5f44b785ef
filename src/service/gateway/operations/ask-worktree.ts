import type { z } from "zod"
import type { ExecutionId } from "../../../execution/id.ts"
import type { Scope } from "../../../execution/scope.ts"
import { ok, type Result } from "../../../lib/result.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { KeeperRequest } from "../../../protocol/ipc.ts"
import { Changes, Dropped, Taken } from "../../../protocol/worktree.ts"
import type { Caller } from "../../access/caller.ts"
import { scopeOf } from "../../access/permission.ts"
import type { AgentOperations } from "../agent-operations.ts"
import type { Answer } from "../ports.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { originOf } from "./owned.ts"

type Ports = {
  link: () => KeeperLink
  resolve: (caller: Caller, id: string, scope: Scope) => Result<ExecutionId, Failure>
}

type Ask = KeeperRequest<"worktree">["ask"]

/** What clients may ask about the worktrees of sessions: the keeper has git run for it. */
export function worktreeOperations({
  link,
  resolve,
}: Ports): Pick<AgentOperations, "changes" | "take" | "drop"> {
  async function asked<Told>(
    caller: Caller,
    execution: string,
    ask: Ask,
    told: z.ZodType<Told>,
  ): Answer<Told> {
    const id = resolve(caller, execution, scopeOf[`agent.${ask.do}`])
    if (!id.ok) return id
    const request = { origin: originOf(caller), executionId: id.value, ask }
    const answer = await link().call("worktree", request)
    return answer.ok ? ok(told.parse(answer.value.done)) : answer
  }
  return {
    changes: (caller, { execution_id }) => asked(caller, execution_id, { do: "changes" }, Changes),
    take: (caller, { execution_id }) => asked(caller, execution_id, { do: "take" }, Taken),
    drop: (caller, { execution_id, force }) =>
      asked(caller, execution_id, { do: "drop", force }, Dropped),
  }
}
