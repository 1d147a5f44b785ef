import { delay } from "../../lib/delay.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { MethodName, ParamsOf, ResultOf } from "../../protocol/methods.ts"
import { CallError, ConnectionLostError } from "../client-error.ts"
import type { Connection } from "../connection/connection.ts"
import { readResult, type Session } from "../connection/session.ts"
import {
  comesBack,
  isSafeToRepeat,
  resultLostEarlier,
  retryDelayMs,
  saysNothingOfTheRequest,
} from "./repeat.ts"

export type CallOptions<Name extends MethodName> = {
  /** Stops waiting. What was sent is not taken back. */
  signal?: AbortSignal
  /** Runs before any later message is looked at. */
  answered?: (result: ResultOf<Name>, session: Session) => void
}

export type CallOutcome<Value> = {
  result: Result<Value, Failure>
  /** Whether an earlier sending may have reached the server. */
  repeated: boolean
}

const never = new AbortController().signal

/** Requests that outlive sessions: each is sent until it is answered, where that is safe. */
export class Calls {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Aborted when the client is closed. */
  get closing(): AbortSignal {
    return this.#connection.closing
  }

  /** The result; a refusal is thrown as a CallError. */
  async result<Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    options: CallOptions<Name> = {},
  ): Promise<ResultOf<Name>> {
    const { result } = await this.outcome(method, params, options)
    if (!result.ok) throw new CallError(result.failure)
    return result.value
  }

  async outcome<Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    options: CallOptions<Name> = {},
  ): Promise<CallOutcome<ResultOf<Name>>> {
    const signal = options.signal ?? never
    let repeated = false
    for (;;) {
      signal.throwIfAborted()
      const session = await unlessAborted(this.#connection.session(), signal)
      const asked = session.ask(method, params, (result) => options.answered?.(result, session))
      const answer = await unlessAborted(asked, signal)
      if (answer.ok) return { result: ok(answer.value), repeated }
      if (answer.failure.kind === "lost") {
        if (answer.failure.sent && !isSafeToRepeat(method, params)) throw doubtful(method)
        repeated ||= answer.failure.sent
        continue
      }
      const refused = answer.failure.failure
      if (!repeated && !comesBack(refused)) return { result: fail(refused), repeated }
      if (saysNothingOfTheRequest(refused)) {
        await delay(retryDelayMs(refused), signal, this.#connection.closing)
        continue
      }
      return { result: await this.#afterRepeat(method, params, refused), repeated }
    }
  }

  async #afterRepeat<Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    refused: Failure,
  ): Promise<Result<ResultOf<Name>, Failure>> {
    const lost = await resultLostEarlier({ method, params }, refused, async (execution_id) => {
      const { result } = await this.outcome("status", { execution_id })
      return result.ok ? result.value : null
    })
    if (lost === undefined) return fail(refused)
    const result = readResult(method, lost)
    return result.ok ? result : fail(refused)
  }
}

function doubtful(method: MethodName): ConnectionLostError {
  return new ConnectionLostError(
    `The connection broke before ${method} was answered. It may have been done or not, and it is ` +
      "not safe to send it again by itself: look at the execution's status first.",
  )
}

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal === never) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener("abort", abort)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener("abort", abort)
  }
}
