import { z } from "zod"
import { SignedReceipt } from "../execution/receipt.ts"
import { StoppedProcess, StreamName, Survivor } from "../execution/record.ts"
import { StateKind } from "../execution/state.ts"
import { Claim, Verdict } from "../execution/verdict.ts"
import { agentMethods } from "./agent.ts"
import {
  ackAfterBytes,
  acknowledges,
  Encoding,
  ExecuteParams,
  ExecuteResult,
  Labels,
} from "./execute.ts"
import { executionId } from "./execution-reference.ts"
import { ExecutionView } from "./execution-view.ts"
import { nodeMethods } from "./node.ts"
import { notifyMethods } from "./notify.ts"
import { Screen, ScreenForm, scrollback } from "./screen.ts"
import { trialMethods } from "./trial.ts"

const cursor = z.string().min(1).max(256).describe("an opaque position in a transcript")
const from = z
  .union([z.literal("start"), z.literal("tail"), cursor])
  .default("start")
  .describe(
    "a `next`, `start`, `tail`, `tail:N` (the last N lines), `tail-bytes:N` (the last N bytes), " +
      "`line:N` (after N line ends), `at:N` (after N bytes) or `since:TIME` (ISO 8601)",
  )
const nothing = z.object({})

export const ControlParams = z
  .object({
    type: z.enum(["PAUSE", "RESUME", "CANCEL", "SIGNAL"]),
    execution_id: executionId.optional().describe("without it, the session's latest execution"),
    signal: z.union([z.string().min(1).max(16), z.int().min(1).max(64)]).optional(),
  })
  .refine((params) => (params.type === "SIGNAL") === (params.signal !== undefined), {
    message: "`signal` is required for SIGNAL, and only for it",
    path: ["signal"],
  })
export type ControlParams = z.infer<typeof ControlParams>

export const ControlResult = z.discriminatedUnion("status", [
  z.object({ status: z.literal("paused"), execution_id: z.string() }),
  z.object({ status: z.literal("resumed"), execution_id: z.string() }),
  z.object({ status: z.literal("signaled"), execution_id: z.string(), processes: z.int() }),
  z.object({
    status: z.literal("canceled"),
    execution_id: z.string(),
    processes: z.array(StoppedProcess),
    survivors: z.array(Survivor),
  }),
])
export type ControlResult = z.infer<typeof ControlResult>

export const maxInputBytes = 1_048_576

export const InputParams = z.object({
  execution_id: executionId,
  data: z.string().default("").describe("at most 1 MiB once decoded"),
  encoding: z.enum(["utf8", "base64"]).default("utf8"),
  end: z.boolean().default(false).describe("close the child's standard input afterwards"),
  writer: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("a name that the client has made up for itself; several may write at a time"),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe(
      "bytes sent before, by this `writer` or else by everybody; what is repeated is not written " +
        "again",
    ),
})
export type InputParams = z.infer<typeof InputParams>

export const InputResult = z.object({
  accepted: z.int().describe("bytes of this request that the child's pipe took"),
  offset: z.int().describe("bytes taken in total, from this `writer` or else from everybody"),
})
export type InputResult = z.infer<typeof InputResult>

const Role = z.enum(["observer", "driver"])
export type Role = z.infer<typeof Role>

export const AttachParams = z.object({
  execution_id: executionId,
  from,
  encoding: Encoding.default("utf8"),
  role: Role.default("observer"),
  acknowledges: acknowledges.optional(),
  screen: z
    .boolean()
    .optional()
    .describe(
      "of a terminal: begin with what it shows, whatever `from` says, and go on from there; its " +
        "queries are taken out of the output, for the service answers them",
    ),
  scrollback: scrollback.optional(),
  sizes: z
    .boolean()
    .optional()
    .describe("tell by `process.resized` how large the terminal is, as it always is with `screen`"),
  size: z
    .object({ cols: z.int().min(1).max(4096), rows: z.int().min(1).max(4096) })
    .optional()
    .describe("of the client's own terminal; as a driver, one of those that decide the size"),
})
export type AttachParams = z.infer<typeof AttachParams>

const AttachResult = z.object({
  execution_id: z.string(),
  state: StateKind,
  from: z.string().describe("the cursor where output begins"),
  available_from: z.string().describe("the oldest cursor that is still kept"),
  subscription: z.int().describe("identifies the subscription in binary frames"),
  ack_after_bytes: ackAfterBytes.optional(),
  screen: Screen.optional().describe("with `screen`: all that was written before `from`"),
})

export const OutputChunk = z.object({
  type: StreamName,
  data: z.string(),
  encoding: z.literal("base64").optional().describe("absent when data is text"),
  sequence: z.int().describe("output bytes of both streams before this chunk"),
  line: z
    .int()
    .optional()
    .describe("line ends of both streams before this chunk; only in pages of a transcript"),
  next: z.string().describe("the cursor to continue from"),
  time: z.iso.datetime(),
  truncated: z.boolean().describe("data ends inside a line"),
  lossy: z.int().optional().describe("characters that replace invalid UTF-8"),
})
export type OutputChunk = z.infer<typeof OutputChunk>

export const GapNotice = z.object({
  from: z.string(),
  next: z.string(),
  bytes: z.int(),
  lines: z.int(),
  reason: z.string(),
})
export type GapNotice = z.infer<typeof GapNotice>

/** Every method of the native protocol: the one place its parameters and results are defined. */
export const methods = {
  ...agentMethods,
  ...trialMethods,
  ...notifyMethods,
  ...nodeMethods,
  execute: { params: ExecuteParams, result: ExecuteResult },
  control: { params: ControlParams, result: ControlResult },
  input: { params: InputParams, result: InputResult },
  resize: {
    params: z.object({
      execution_id: executionId,
      cols: z.int().min(1).max(4096),
      rows: z.int().min(1).max(4096),
    }),
    result: nothing,
  },
  attach: { params: AttachParams, result: AttachResult },
  detach: { params: z.object({ execution_id: executionId }), result: nothing },
  ack: { params: z.object({ execution_id: executionId, next: cursor }), result: nothing },
  watch: { params: z.object({ labels: Labels.optional() }).default({}), result: nothing },
  remove: { params: z.object({ execution_id: executionId }), result: nothing },
  list: {
    params: z
      .object({
        state: StateKind.optional(),
        limit: z.int().min(1).max(1000).default(100),
        cursor: z.string().max(64).optional(),
        labels: Labels.optional(),
      })
      .prefault({}),
    result: z.object({ executions: z.array(ExecutionView), cursor: z.string().optional() }),
  },
  status: { params: z.object({ execution_id: executionId }), result: ExecutionView },
  receipt: { params: z.object({ execution_id: executionId }), result: SignedReceipt },
  screen: {
    params: z.object({
      execution_id: executionId,
      scrollback: scrollback.default(0),
      form: ScreenForm.default("plain"),
    }),
    result: Screen.extend({ next: z.string().describe("the cursor after what is on the screen") }),
  },
  "transcript.read": {
    params: z.object({
      execution_id: executionId,
      from,
      limit_bytes: z.int().min(1).max(8_388_608).default(1_048_576),
      encoding: z.enum(["utf8", "base64"]).default("utf8"),
    }),
    result: z.object({
      chunks: z.array(OutputChunk),
      gap: GapNotice.optional().describe("output before the first chunk that was dropped"),
      next: z.string(),
      sequence: z.int().optional().describe("output bytes of both streams before `next`"),
      more: z.boolean().optional().describe("more is available now"),
      ended: z.boolean().describe("nothing will ever follow `next`"),
    }),
  },
  "transcript.search": {
    params: z.object({
      execution_id: executionId,
      text: z.string().min(1).max(1024).describe("found as it is written"),
      ignore_case: z.boolean().default(false).describe("of letters without accents"),
      stream: StreamName.optional(),
      from,
      limit: z.int().min(1).max(1000).default(100),
    }),
    result: z.object({
      matches: z.array(
        z.object({
          line: z.int().describe("line ends of both streams before the line"),
          sequence: z.int().describe("output bytes of both streams before the match"),
          stream: StreamName,
          time: z.iso.datetime(),
          text: z.string().describe("the line, or the part of it around the match"),
          at: z.int().describe("where in `text` the match begins"),
        }),
      ),
      next: z.string().describe("`from` of the next page"),
      complete: z.boolean().describe("everything that there is now was searched"),
      searched_bytes: z.int(),
      gap: GapNotice.optional().describe("output that was dropped, and so not searched"),
    }),
  },
  "transcript.verify": {
    params: z.object({ execution_id: executionId, ...Claim.shape }),
    result: Verdict,
  },
} as const

export type MethodName = keyof typeof methods
export type ParamsOf<Name extends MethodName> = z.input<(typeof methods)[Name]["params"]>
export type ParsedParamsOf<Name extends MethodName> = z.output<(typeof methods)[Name]["params"]>
export type ResultOf<Name extends MethodName> = z.output<(typeof methods)[Name]["result"]>

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name)
}
