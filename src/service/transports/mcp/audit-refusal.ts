import { MissingRequiredClientCapabilityError, ProtocolError } from "@modelcontextprotocol/server"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { McpScope } from "./ports.ts"
import { RefusedRequest } from "./resources/resources.ts"

/** A line in the audit trail: what was refused, to whom, and of which execution. */
export function auditRefusal(
  { caller, refusals }: Pick<McpScope, "caller" | "refusals">,
  method: string,
  refused: Failure,
  executionId?: string,
): void {
  const { principal, address, via } = caller
  refusals.refused({ principal, address, via, method, failure: refused, executionId })
}

/** What refuses by throwing, as the SDK wants it, leaves a line in the audit trail too. */
export async function auditingRefusals<Answer>(
  scope: McpScope,
  method: string,
  executionId: string | undefined,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof ProtocolError) auditRefusal(scope, method, refusalIn(error), executionId)
    throw error
  }
}

function refusalIn(error: ProtocolError): Failure {
  if (error instanceof RefusedRequest) return error.failure
  const isUndeclared = error instanceof MissingRequiredClientCapabilityError
  return failure(isUndeclared ? "INVALID_REQUEST" : "PROCESS_NOT_FOUND", error.message)
}
