import type { ExecutionRecord, Owned } from "../../../execution/record.ts"
import type { Origin } from "../../../protocol/audit-entry.ts"
import type { Caller } from "../../access/caller.ts"

/** Of whatever a caller is known by: what the keeper notes. */
export function originOf({ principal, address, via, node }: Caller): Origin {
  return { principal, address, via, ...(node === undefined ? {} : { from_node: node }) }
}

export function ownedOf({ principal, spec }: ExecutionRecord): Owned {
  return { principal, labels: spec.labels }
}
