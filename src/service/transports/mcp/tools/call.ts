import { SdkError, type ServerContext } from "@modelcontextprotocol/server"
import { z } from "zod"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { checkParams } from "../../../../protocol/check-params.ts"
import { ExecuteParams } from "../../../../protocol/execute.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import {
  callerDefaultsMeta,
  idempotencyKeyMeta,
  waitedMeta,
} from "../../../../protocol/mcp-meta-keys.ts"

/** What is under `callerDefaultsMeta`. */
const { cwd, env } = ExecuteParams.shape
const CallerDefaults = z.object({ cwd, env })
type CallerDefaults = z.infer<typeof CallerDefaults>

/** One `tools/call`, apart from its arguments. */
export type Call = {
  /** What was said of it by those on its way: see protocol/mcp-meta-keys.ts. */
  idempotencyKey: string | undefined
  defaults: CallerDefaults
  /** How long its client had been waiting when it came here: it may have been sent before. */
  waitedMs: number
  /** Whether an answer may be a task. */
  takesTasks: boolean
  /** Null where nobody asked to be told. */
  progress: ((progress: number, message: string) => Promise<void>) | null
  /** Nobody waits for the answer any more, for whatever reason. */
  signal: AbortSignal
  /** The client has canceled the call, in so many words: not merely gone away. */
  wasCanceled(): boolean
}

export const tasksExtension = "io.modelcontextprotocol/tasks"

/** What of `_meta` is not ours is ignored; what is, and cannot be read, is told. */
export function callOf({ mcpReq }: ServerContext): Result<Call, Failure> {
  const { signal } = mcpReq
  const meta = Meta.safeParse(mcpReq._meta).data ?? {}
  const progressToken = ProgressToken.safeParse(meta["progressToken"]).data
  const idempotencyKey = readEntry(IdempotencyKey.optional(), idempotencyKeyMeta, meta)
  if (!idempotencyKey.ok) return idempotencyKey
  const defaults = readEntry(CallerDefaults.optional(), callerDefaultsMeta, meta)
  if (!defaults.ok) return defaults
  const waited = readEntry(z.number().min(0).optional(), waitedMeta, meta)
  if (!waited.ok) return waited
  return ok({
    idempotencyKey: idempotencyKey.value,
    defaults: defaults.value ?? {},
    waitedMs: waited.value ?? 0,
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
    wasCanceled: () => signal.aborted && !(signal.reason instanceof SdkError),
  })
}

function readEntry<Schema extends z.ZodType>(
  schema: Schema,
  name: string,
  meta: Record<string, unknown>,
): Result<z.output<Schema>, Failure> {
  const read = checkParams(schema, meta[name])
  if (read.ok) return read
  const wrong = read.failure.map(({ path, message }) => [...path.map(String), message].join(": "))
  const message = `${name} in the call's _meta is not valid: ${wrong.join("; ")}.`
  return fail(failure("INVALID_PARAMS", message, { issues: read.failure }))
}

/** By the request itself: what was declared with another one does not count. */
export function declaresTasks({ envelope }: Pick<ServerContext["mcpReq"], "envelope">): boolean {
  return Envelope.safeParse(envelope).success
}

const Meta = z.record(z.string(), z.unknown())
const ProgressToken = z.union([z.string(), z.number()])
const IdempotencyKey = z.string().min(1).max(256)

const Envelope = z.object({
  "io.modelcontextprotocol/clientCapabilities": z.object({
    extensions: z.object({ [tasksExtension]: z.looseObject({}) }),
  }),
})
