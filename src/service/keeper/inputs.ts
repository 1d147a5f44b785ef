import type { ExecutionId } from "../../execution/id.ts"
import { ByteBudget } from "../../lib/byte-budget.ts"
import { fail, type Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { KeeperParams } from "../../protocol/ipc.ts"
import type { InputResult } from "../../protocol/methods.ts"
import { tooMuchInputWaits, waitingInputLimits } from "../../protocol/session-limits.ts"
import { type InputRequest, repeatedInput, writerOf } from "./supervision/input-queue.ts"
import type { Supervision } from "./supervision/supervision.ts"
import { WriterOffsets } from "./supervision/writer-offsets.ts"

/** Of those that ended last: whoever repeats a request does so within seconds. */
const mostEnded = 256

export type Input = Omit<KeeperParams<"input">, "origin"> & { principal: string }

/** What is written to executions, and what those that have ended took of each writer. */
export class Inputs {
  readonly #waiting = new ByteBudget(waitingInputLimits)
  readonly #ended = new Map<ExecutionId, { taken: number; offsets: WriterOffsets }>()

  async write(input: Input, supervision: Supervision): Promise<Result<InputResult, Failure>> {
    using held = this.#waiting.hold(input.principal, input.data.length)
    if (held === null) return fail(tooMuchInputWaits)
    return await supervision.write(requestOf(input))
  }

  /**
   * A child may take its input and end before its writer, cut off meanwhile, could be told: this
   * answers the repeated request. Null where it was not taken, or is not remembered any more.
   */
  repeated(input: Input): Result<InputResult, Failure> | null {
    const ended = this.#ended.get(input.executionId)
    if (ended === undefined) return null
    const request = requestOf(input)
    const writer = writerOf(request)
    return repeatedInput(request, writer === null ? ended.taken : ended.offsets.of(writer))
  }

  remember({ record, input }: Supervision): void {
    if (input === null) return
    const { taken, writers } = input
    this.#ended.set(record.id, { taken, offsets: new WriterOffsets(writers) })
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest)
  }
}

function requestOf({ data, end, offset, writer, principal }: Input): InputRequest {
  return { data, end, offset: offset ?? null, principal, writer: writer ?? null }
}
