import type { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { checkParams, invalidParams } from "../../../protocol/check-params.ts"
import type { Failure } from "../../../protocol/failure.ts"
import { type MethodName, methods, type ParsedParamsOf } from "../../../protocol/methods.ts"
import type { Caller } from "../../access/caller.ts"
import type { Operations } from "../../gateway/ports.ts"
import type { SubscriberSocket, Subscription } from "./subscription.ts"

/** What a method may use of the session it is called in. */
export interface SessionScope extends SubscriberSocket {
  readonly caller: Caller
  readonly operations: Operations
  readonly subscriptions: Map<string, Subscription>
  latestExecution: string | null
  watch(labels: Record<string, string> | undefined): Result<Record<string, never>, Failure>
  /** Whether it can have no more subscriptions. */
  readonly isFull: boolean
  newSubscriptionNumber(): Result<number, Failure>
  detach(subscription: Subscription): void
  /** What drove this execution here before, and stands by since it was detached. */
  takeStandBy(executionId: string): Disposable | null
}

export type Reply = {
  result: unknown
  /** What may only happen once the result is on its way. */
  afterwards?: () => void
  /** The session is gone: undo what was waiting for `afterwards`. */
  abandon?: () => void
}

export type Answer<Params> = (
  session: SessionScope,
  params: Params,
) => Promise<Result<Reply, Failure>>

const schemas: { [Name in MethodName]: { params: z.ZodType<ParsedParamsOf<Name>> } } = methods

/** What a method answers with, once its parameters were checked. */
export function taking<Name extends MethodName>(
  method: Name,
  run: Answer<ParsedParamsOf<Name>>,
): Answer<unknown> {
  return async (session, raw) => {
    const params = checkParams(schemas[method].params, raw ?? {})
    if (params.ok) return run(session, params.value)
    const issues = params.failure
    const [first] = issues
    const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `
    const message = `Invalid parameters: ${where}${first?.message ?? "unknown"}.`
    const policy = method === "execute" ? session.operations.policy : "everything"
    return fail(invalidParams(message, issues, policy))
  }
}

export function plain<Value>(outcome: Result<Value, Failure>): Result<Reply, Failure> {
  return outcome.ok ? ok({ result: outcome.value }) : outcome
}
