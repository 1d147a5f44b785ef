import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { MethodName, ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../access/caller.ts"

type AgentMethod = Extract<MethodName, `agent.${string}`>

/** What can be asked about agents' sessions: one function for each method `agent.…`. */
export type AgentOperations = {
  [Method in AgentMethod as Method extends `agent.${infer Name}` ? Name : never]: (
    caller: Caller,
    params: ParsedParamsOf<Method>,
  ) => Promise<Result<ResultOf<Method>, Failure>>
}
