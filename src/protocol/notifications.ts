import { z } from "zod"
import { Scope } from "../execution/scope.ts"
import { Ending, ExecutionView } from "./execution-view.ts"
import { WireError } from "./failure.ts"
import { GapNotice, OutputChunk } from "./methods.ts"

const execution_id = z.string()

const LifeSign = z.object({
  execution_id,
  status: z.string(),
  pid: z.int().nullable(),
  pgid: z.int().nullable(),
})

const { shape } = ExecutionView

export const Completed = z.object({
  execution_id,
  status: z.enum(["completed", "failed"]).describe("`completed` means exit code 0, nothing else"),
  ...Ending.shape,
  execution_time: shape.execution_time,
  bytes: shape.bytes,
  lines: shape.lines,
  dropped: shape.dropped,
  redacted: shape.redacted,
  hashes: shape.hashes,
  survivors: shape.survivors,
})
export type Completed = z.infer<typeof Completed>

/** Whether every program may be executed, or only those of a list. */
export const PolicyKind = z.enum(["everything", "allow-list"])
export type PolicyKind = z.infer<typeof PolicyKind>

/** Everything the server says unasked. */
export const notifications = {
  connected: z.object({
    session_id: z.string(),
    version: z.string(),
    capabilities: z.array(z.string()),
    principal: z.string().optional().describe("by which the client is known"),
    scopes: z.array(Scope).optional().describe("what the client may do"),
    policy: PolicyKind.optional().describe(
      "with an allow-list, requests are checked more strictly",
    ),
    run_as: z
      .string()
      .optional()
      .describe("the user that commands run as, if not the service's own"),
  }),
  "process.started": LifeSign,
  "process.paused": LifeSign,
  "process.resumed": LifeSign,
  "process.canceled": LifeSign,
  "process.output": z.object({ execution_id, ...OutputChunk.shape }),
  "process.resized": z.object({
    execution_id,
    cols: z.int(),
    rows: z.int(),
    next: z.string().describe("the cursor to continue from"),
  }),
  "process.gap": z.object({ execution_id, ...GapNotice.shape }),
  "process.completed": Completed,
  "process.error": z.object({ execution_id, error: WireError }),
  "execution.changed": ExecutionView,
} as const

export type NotificationName = keyof typeof notifications
export type NotificationOf<Name extends NotificationName> = z.infer<(typeof notifications)[Name]>

/** How an execution ended, as everyone is told; null before its end. */
export function completedOf(view: ExecutionView): Completed | null {
  if (view.ending === null) return null
  const { outcome, exit_code } = view.ending
  const status = outcome === "exited" && exit_code === 0 ? "completed" : "failed"
  const { execution_time, bytes, lines, dropped, redacted, hashes, survivors } = view
  const totals = { execution_time, bytes, lines, dropped, redacted, hashes, survivors }
  return { execution_id: view.execution_id, status, ...view.ending, ...totals }
}
