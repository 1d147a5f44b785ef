import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import type { Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import { outcomeText, summaryOf } from "../execution-summary.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"
import { waitUntil } from "./wait-until.ts"

/** Waits for an execution's end, for so long: see `waitUntil`. */
export function waitForEnd(
  scope: McpScope,
  call: Call,
  executionId: string,
  mostMs: number,
): Promise<Result<ExecutionRecord, Failure>> {
  return waitUntil(scope, call, executionId, mostMs, { isThere: hasEnded, progress: progressText })
}

function progressText(record: ExecutionRecord): string {
  const summary = summaryOf(record)
  return `Execution ${summary.execution_id} ${outcomeText(summary)}`
}
