import type { StreamName } from "../../../../src/execution/record.ts"
import { ReadScheduler } from "../../../../src/service/gateway/operations/read-scheduler.ts"
import type { McpScope } from "../../../../src/service/transports/mcp/ports.ts"
import { localUser } from "../../../support/callers.ts"
import { NotedRefusals } from "../../../support/noted.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import type { StagedExecution } from "../../../support/staged-execution.ts"

export type Written = { stream: StreamName; bytes: Uint8Array }

/** What a tool has to work with, around an execution with a real transcript. */
export function scopeAround({ operations }: StagedExecution): McpScope {
  return {
    operations,
    caller: localUser,
    closing: new AbortController().signal,
    replacing: new AbortController().signal,
    refusals: new NotedRefusals(),
    version: "1.2.3",
    log: new QuietLog(),
    searches: new ReadScheduler(),
    ownProgram: { self: ["cc-executor"], stateDir: "/state", runAs: null },
    monotonicMs: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs)
      return { [Symbol.dispose]: () => clearTimeout(timer) }
    },
  }
}

export function writeAll(staged: StagedExecution, written: readonly Written[]): void {
  for (const { stream, bytes } of written) staged.write(bytes, stream)
}

/** Both streams, each as it was written. */
export function bytesOf(written: readonly Written[], stream: StreamName): Buffer {
  return Buffer.concat(written.flatMap((piece) => (piece.stream === stream ? [piece.bytes] : [])))
}
