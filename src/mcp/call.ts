import { SdkError, type ServerContext } from "@modelcontextprotocol/server"
import { z } from "zod"
import { CallerDefaults } from "../protocol/mcp-meta.ts"
import { callerDefaultsMeta, idempotencyKeyMeta } from "../protocol/mcp-meta-keys.ts"

/** One `tools/call`, apart from its arguments. */
export type Call = {
  /** What was said of it by those on its way: see protocol/mcp-meta-keys.ts. */
  idempotencyKey: string | undefined
  defaults: CallerDefaults
  /** Whether an answer may be a task. */
  takesTasks: boolean
  /** Null where nobody asked to be told. */
  progress: ((progress: number, message: string) => Promise<void>) | null
  /** Nobody waits for the answer any more, for whatever reason. */
  signal: AbortSignal
  /** The client has cancelled the call, in so many words: not merely gone away. */
  wasCancelled(): boolean
}

export const tasksExtension = "io.modelcontextprotocol/tasks"

export function callOf({ mcpReq }: ServerContext): Call {
  const { signal } = mcpReq
  const meta = Meta.safeParse(mcpReq._meta ?? {}).data ?? {}
  const { progressToken } = meta
  return {
    idempotencyKey: meta[idempotencyKeyMeta],
    defaults: meta[callerDefaultsMeta] ?? {},
    takesTasks: declaresTasks(mcpReq),
    progress:
      progressToken === undefined
        ? null
        : (progress, message) =>
            mcpReq.notify({
              method: "notifications/progress",
              params: { progressToken, progress, message },
            }),
    signal,
    // A connection that is lost aborts its calls with an error of the SDK.
    wasCancelled: () => signal.aborted && !(signal.reason instanceof SdkError),
  }
}

/** By the request itself: what was declared with another one does not count. */
export function declaresTasks({ envelope }: Pick<ServerContext["mcpReq"], "envelope">): boolean {
  return Envelope.safeParse(envelope).success
}

const Meta = z.object({
  progressToken: z.union([z.string(), z.number()]).optional(),
  [idempotencyKeyMeta]: z.string().min(1).max(256).optional(),
  [callerDefaultsMeta]: CallerDefaults.optional(),
})

const Envelope = z.object({
  "io.modelcontextprotocol/clientCapabilities": z.object({
    extensions: z.object({ [tasksExtension]: z.looseObject({}) }),
  }),
})
