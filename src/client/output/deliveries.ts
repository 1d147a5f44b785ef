import { fail, ok, type Result } from "../../lib/result.ts"
import { AlreadyAttachedError } from "../client-error.ts"
import type { Session, Unasked } from "../connection/session.ts"
import { Delivery } from "./delivery.ts"
import type { DeliveryOptions, DeliveryWorld } from "./delivery-options.ts"
import { eventFromFrame, eventFromOutput } from "./execution-event.ts"

/** The executions this client follows: at most one delivery each, as the server has it. */
export class Deliveries {
  readonly #world: Omit<DeliveryWorld, "over">
  readonly #followed = new Map<string, Delivery>()

  constructor(world: Omit<DeliveryWorld, "over">) {
    this.#world = world
  }

  /** Whether an id or the beginning of one names something followed. */
  followsAny(prefix: string): boolean {
    return this.#followed.keys().some((id) => id.startsWith(prefix))
  }

  start(options: DeliveryOptions): Result<Delivery, AlreadyAttachedError> {
    const { executionId } = options
    if (this.#followed.has(executionId)) return fail(new AlreadyAttachedError(executionId))
    const over = () => this.#followed.delete(executionId)
    const delivery = new Delivery(options, { ...this.#world, over })
    this.#followed.set(executionId, delivery)
    return ok(delivery)
  }

  /** Something may have moved the session's subscription: it is taken up again at the cursor. */
  attachAgain(executionId: string): void {
    this.#followed.get(executionId)?.attachAgain()
  }

  receive(incoming: Exclude<Unasked, { kind: "changed" }>, session: Session): void {
    switch (incoming.kind) {
      case "output": {
        const delivery = this.#followed.get(incoming.output.execution_id)
        if (delivery === undefined || !delivery.isAttachedTo(session)) return
        const event = eventFromOutput(incoming.output)
        if (event === null) return delivery.receiveUnreadable("process.output")
        return delivery.receiveOutput(session, event)
      }
      case "frame": {
        const delivery = this.#subscribed(session, incoming.frame.subscription)
        return delivery?.receiveOutput(session, eventFromFrame(incoming.frame))
      }
      case "notice": {
        const delivery = this.#followed.get(incoming.notice.params.execution_id)
        return delivery?.receiveNotice(session, incoming.notice)
      }
      case "unreadable-notice":
        return this.#followed.get(incoming.executionId)?.receiveUnreadable(incoming.method)
    }
  }

  sessionEnded(session: Session): void {
    for (const delivery of this.#followed.values()) delivery.sessionEnded(session)
  }

  // Few executions are followed at a time, and numbers are reused by every new session: looking is
  // cheaper than keeping an index that must never be stale.
  #subscribed(session: Session, subscription: number): Delivery | undefined {
    return this.#followed.values().find((delivery) => delivery.isSubscribed(session, subscription))
  }
}
