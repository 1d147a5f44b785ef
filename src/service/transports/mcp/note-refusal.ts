import type { Failure } from "../../../protocol/failure.ts"
import type { McpScope } from "./ports.ts"

/** A line in the audit trail: what was refused, to whom, and of which execution. */
export function noteRefusal(
  { caller, refusals }: Pick<McpScope, "caller" | "refusals">,
  method: string,
  refused: Failure,
  executionId?: string,
): void {
  const { principal, address, via } = caller
  refusals.refused({ principal, address, via, method, failure: refused, executionId })
}
