import type { X509Certificate } from "node:crypto"
import type { Log } from "../lib/log.ts"
import { type LostPlacement, noticeOf } from "./placements.ts"
import { isDeclaredBy } from "./signed-statements.ts"

/** Whether it is a node of the fleet that has declared this very execution lost. */
export function isGenuineLoss(authorities: readonly X509Certificate[], log: Log) {
  return (id: string, { notice }: LostPlacement): boolean => {
    const told = noticeOf(notice)
    const isOfIt = told?.execution_id === id
    if (isOfIt && isDeclaredBy(told.declared_by, notice, authorities)) return true
    log.error({ executionId: id }, "a loss notice is not signed by a node of the fleet")
    return false
  }
}
