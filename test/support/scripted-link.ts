import type { z } from "zod"
import { fail, ok, type Result } from "../../src/lib/result.ts"
import { type Failure, failure } from "../../src/protocol/failure.ts"
import type { GatewaySettings } from "../../src/protocol/gateway-settings.ts"
import {
  type KeeperMethod,
  type KeeperRequest,
  type KeeperResult,
  keeperMethods,
} from "../../src/protocol/ipc.ts"
import type { KeeperLink } from "../../src/service/gateway/operations/keeper-link.ts"

type Call = {
  method: KeeperMethod
  params: unknown
  /** Answers as the keeper would; a result of the wrong shape fails the test. */
  answer(result: unknown): Promise<void>
  refuse(why: Failure): Promise<void>
}

/** What is answered at once, by method; anything else waits for the test. */
type Answers = Partial<Record<KeeperMethod, (params: unknown) => unknown>>

/** A keeper that answers when, and what, a test says. */
export class ScriptedLink implements KeeperLink {
  /** Everything that was asked, in its order. */
  readonly calls: Call[] = []
  readonly #answers: Answers

  constructor(answers: Answers = {}) {
    this.#answers = answers
  }

  get settings(): GatewaySettings {
    throw new Error("no test needs the settings")
  }

  call<Name extends KeeperMethod>(
    method: Name,
    params: KeeperRequest<Name>,
    answered?: (result: KeeperResult<Name>) => void,
  ): Promise<Result<KeeperResult<Name>, Failure>> {
    const { promise, resolve } = Promise.withResolvers<Result<KeeperResult<Name>, Failure>>()
    const answer = (value: unknown) => {
      const result = resultSchemas[method].result.parse(value)
      answered?.(result)
      resolve(ok(result))
    }
    const atOnce = this.#answers[method]
    if (atOnce !== undefined) answer(atOnce(params))
    this.calls.push({
      method,
      params,
      async answer(value) {
        answer(value)
        await settled()
      },
      async refuse(why) {
        resolve(fail(why))
        await settled()
      },
    })
    return promise
  }

  /** What was asked, without what it was asked with. */
  get methods(): string[] {
    return this.calls.map(({ method }) => method)
  }

  callTo(method: KeeperMethod, nth = 0): Call {
    const found = this.calls.filter((call) => call.method === method)[nth]
    if (found === undefined) throw new Error(`${method} was not asked ${nth + 1} times`)
    return found
  }
}

export const keeperBroke = failure("INTERNAL", "The keeper failed.")

const resultSchemas: { [Name in KeeperMethod]: { result: z.ZodType<KeeperResult<Name>> } } =
  keeperMethods

/** Between two messages of the keeper everything that waited for the first one runs. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
