import type { ExecutionId } from "../../execution/id.ts"
import type { Notice } from "../../execution/notice.ts"
import type { TargetName } from "../../execution/notify-target.ts"
import type { DeliveryView } from "../../protocol/notify.ts"

/** What the gateway reads of the outbox. */

export type PendingDelivery = {
  id: ExecutionId
  target: TargetName
  notice: Notice
  createdAt: Date
  attempts: number
}

export type DeliveryFilter = {
  /** Null for everybody's. */
  principal: string | null
  target?: string | undefined
  state?: DeliveryView["state"] | undefined
  about?: string | undefined
  id?: string | undefined
  before?: number | undefined
}

export interface OutboxReader {
  /**
   * What may be sent to a target now, in the order in which it happened. Of one execution or trial
   * that is its first alone: what follows waits for it. `upTo` is the last one that may be sent.
   */
  due(target: TargetName, upTo: number, now: Date, most: number): PendingDelivery[]
  /** When the next one of those that are first may be sent; null where nothing waits. */
  nextDueAt(target: TargetName, upTo: number): Date | null
  pendingDelivery(id: ExecutionId): PendingDelivery | null
  /** Newest first; `ordinal` is where the next page goes on before. */
  deliveries(filter: DeliveryFilter, most: number): Array<{ ordinal: number; view: DeliveryView }>
  pendingByTarget(principal: string | null): ReadonlyMap<string, number>
}
