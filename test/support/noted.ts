import type { AuditNote } from "../../src/protocol/audit-entry.ts"
import type { Refusal, Refusals } from "../../src/service/gateway/ports.ts"
import type { Audit } from "../../src/service/keeper/ports.ts"

/** An audit trail that is only kept in mind. */
export class NotedAudit implements Audit {
  readonly notes: AuditNote[] = []

  note(note: AuditNote): void {
    this.notes.push(note)
  }
}

export class NotedRefusals implements Refusals {
  readonly refusals: Refusal[] = []

  refused(refusal: Refusal): void {
    this.refusals.push(refusal)
  }
}
