import type { ExecutionId } from "../execution/id.ts"
import type { SignedReceipt } from "../execution/receipt.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import type { JournalReader } from "../service/gateway/ports.ts"

/** What the other nodes have told of their executions: read like a journal. */
export interface Mirror
  extends Pick<
    JournalReader,
    "find" | "owned" | "withName" | "withPrefix" | "list" | "receipt" | "countLive"
  > {
  /** What was known of it before is replaced. */
  put(record: ExecutionRecord, receipt: SignedReceipt | null): void
  remove(id: ExecutionId): void
}
