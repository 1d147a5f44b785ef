import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { MethodName, ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../access/caller.ts"

type NodeMethod = Extract<MethodName, `node.${string}`>

/** What can be asked about the nodes of a fleet: one function for each method `node.…`. */
export type NodeOperations = {
  [Method in NodeMethod as Method extends `node.${infer Name}` ? Name : never]: (
    caller: Caller,
    params: ParsedParamsOf<Method>,
  ) => Promise<Result<ResultOf<Method>, Failure>>
}
