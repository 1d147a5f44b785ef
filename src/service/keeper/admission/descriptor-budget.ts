import { reservedDescriptors, serviceDescriptors } from "../../../execution/descriptor-needs.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Descriptors } from "../ports.ts"

/** Whether there are descriptors for one more execution. */
export class DescriptorBudget {
  readonly #descriptors: Descriptors
  /** An execution's transcript is opened only when it writes something. */
  #promised = 0

  constructor(descriptors: Descriptors) {
    this.#descriptors = descriptors
  }

  hasRoom(needed: number): boolean {
    return this.#inUse() + needed + reservedDescriptors <= this.#descriptors.limit
  }

  refusal(needed: number): Failure | null {
    if (this.hasRoom(needed)) return null
    const message =
      `${this.#inUse()} of the service's ${this.#descriptors.limit} file descriptors are in use, ` +
      `and ${reservedDescriptors} are kept for what runs. Try again when an execution has ended, ` +
      "or raise the limit with `ulimit -n` or LimitNOFILE."
    return failure("AT_CAPACITY", message, { retry_after: 1 })
  }

  /** Until it is disposed. */
  hold(count: number): Disposable {
    this.#promised += count
    return {
      [Symbol.dispose]: () => {
        this.#promised -= count
      },
    }
  }

  #inUse(): number {
    return Math.max(this.#descriptors.open(), serviceDescriptors + this.#promised)
  }
}
