import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { MethodName, ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../access/caller.ts"

type NotifyMethod = Extract<MethodName, `notify.${string}`>

/** What can be asked about notifications: one function for each method `notify.…`. */
export type NotifyOperations = {
  [Method in NotifyMethod as Method extends `notify.${infer Name}` ? Name : never]: (
    caller: Caller,
    params: ParsedParamsOf<Method>,
  ) => Promise<Result<ResultOf<Method>, Failure>>
}
