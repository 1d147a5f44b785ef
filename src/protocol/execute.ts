import { z } from "zod"
import { ExecutionId } from "../execution/id.ts"
import { nameOf } from "../execution/name.ts"
import { TargetName } from "../execution/notify-target.ts"
import { Placed } from "../execution/placement.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { BudgetPolicy, TerminalSize } from "../execution/spec.ts"
import { StepId, StepRole, TrialId } from "../execution/trial/announcement.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure } from "./failure.ts"

/** How output travels: lossy text, exact text, or exact bytes in binary frames. */
export const Encoding = z.enum(["utf8", "base64", "binary"])
export type Encoding = z.infer<typeof Encoding>

export const withoutNul = z
  .string()
  .refine((text) => !text.includes("\0"), "must not contain a NUL")
export const variableName = z
  .string()
  .regex(/^[^=\0]+$/, "a variable name contains no '=' and no NUL")
const seconds = z
  .number()
  .positive()
  .max(365 * 86_400)

export const Labels = z
  .record(z.string().min(1).max(64), z.string().max(256))
  .refine((labels) => Object.keys(labels).length <= 32, "at most 32 labels")
export type Labels = z.infer<typeof Labels>

export const acknowledges = z
  .boolean()
  .describe("with policy `block`, only what this driver acknowledges counts as taken")
export const ackAfterBytes = z
  .int()
  .describe(
    "for a driver that acknowledges: `ack` after this many bytes, and when there are no more",
  )

/** Never an address: those stand in the configuration. */
const notify = z
  .array(TargetName)
  .max(8)
  .describe("targets that are told of its end and its questions, by their names")

/** Which step of which trial is meant: by its id, or by its role where that leaves no choice. */
export const trialStepFields = {
  trial: TrialId.optional().describe(
    "it is a step of this trial, and must be what was announced: see `trial.begin`",
  ),
  step: StepId.optional().describe("with `trial`: which step"),
  role: StepRole.optional().describe("with `trial`: the one step of this role that still waits"),
}
type TrialStepFields = z.infer<z.ZodObject<typeof trialStepFields>>

const stepOfTrial = {
  message: "`trial` needs `step` or `role`, and they need `trial`",
  path: ["trial"],
}
function namesStep({ trial, step, role }: Partial<TrialStepFields>): boolean {
  return (trial === undefined) === (step === undefined && role === undefined)
}
/** The same for what has only these fields. */
export const trialStepRule = z.refine<Partial<TrialStepFields>>(namesStep, stepOfTrial)

/** What no field can say alone. */
export const executeRules = [
  z.refine<Ruled>(
    ({ command, argv, trial }) =>
      (command === undefined) !== (argv === undefined) ||
      (trial !== undefined && command === undefined),
    "use either `command` or `argv`",
  ),
  z.refine<Ruled>((params) => params.argv === undefined || params.shell !== true, {
    message: "`shell` needs `command`: `argv` is executed as it is",
    path: ["shell"],
  }),
  z.refine<Ruled>((params) => params.terminal === undefined || params.budget?.policy !== "block", {
    message: "a terminal cannot wait: use the policy `drop-oldest`",
    path: ["budget", "policy"],
  }),
  // By such a name nobody could be found, or somebody else.
  z.refine<Ruled>(({ labels }) => !ExecutionId.safeParse(nameOf(labels)).success, {
    message: "a name must not have the form of an id",
    path: ["labels", "name"],
  }),
  z.refine<Ruled>(namesStep, stepOfTrial),
]
type Ruled = Partial<TrialStepFields> &
  Pick<ExecuteParams, "command" | "argv" | "shell" | "terminal" | "budget" | "labels">

export const ExecuteParams = z
  .object({
    command: withoutNul.min(1).max(1_048_576).optional().describe("a command line"),
    argv: z.array(withoutNul).min(1).max(65_536).optional().describe("program and arguments"),
    shell: z.boolean().optional().describe("always run `command` in the configured shell"),
    cwd: withoutNul.min(1).optional(),
    env: z
      .record(variableName, withoutNul)
      .optional()
      .describe("variables added to the service's own"),
    stdin: z.enum(["closed", "pipe"]).default("closed"),
    terminal: TerminalSize.optional().describe("run on a pseudo-terminal of this size"),
    timeout: seconds.optional().describe("seconds of running, not counting pauses"),
    idle_timeout: seconds.optional().describe("seconds without input or output"),
    budget: z
      .object({
        bytes: z.int().min(1024).optional(),
        lines: z.int().min(1).optional(),
        policy: BudgetPolicy.optional(),
      })
      .optional(),
    limits: z
      .object({
        memory: z.int().positive().optional().describe("bytes"),
        cpu: z.number().positive().optional().describe("processors; 0.5 is half of one"),
        pids: z.int().positive().optional(),
        output: z.int().positive().optional().describe("bytes of both streams, kept or not"),
      })
      .optional(),
    encoding: Encoding.default("utf8"),
    acknowledges: acknowledges.optional(),
    idempotency_key: z.string().min(1).max(256).optional(),
    on_disconnect: z.enum(["keep", "cancel"]).default("keep"),
    labels: Labels.default({}).describe("`name` is usable wherever an id is"),
    notify: notify.optional(),
    on: Labels.optional().describe(
      "labels that the node of a fleet must have; `node` is its name. Without it, any will do",
    ),
    placed: Placed.extend({ execution_id: ExecutionId })
      .optional()
      .describe("said by nodes of a fleet to each other, and refused from anybody else"),
    ...trialStepFields,
  })
  .check(...executeRules)
export type ExecuteParams = z.infer<typeof ExecuteParams>

export const ExecuteResult = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("started"),
    execution_id: z.string(),
    pid: z.int(),
    pgid: z.int(),
    subscription: z.int().optional(),
    ack_after_bytes: ackAfterBytes.optional(),
    repeated: z
      .boolean()
      .optional()
      .describe("true if the idempotency key found an earlier execution"),
  }),
  z.object({
    status: z.literal("queued"),
    execution_id: z.string(),
    subscription: z.int().optional(),
    ack_after_bytes: ackAfterBytes.optional(),
    repeated: z.boolean().optional(),
  }),
])
export type ExecuteResult = z.infer<typeof ExecuteResult>

/** What `execute` answers; a key may find one that could not be started, which is told again. */
export function executeResultOf(
  record: ExecutionRecord,
  repeated: boolean,
): Result<ExecuteResult, Failure> {
  const { id, state, leader } = record
  const again = repeated ? { repeated } : {}
  if (state.kind === "ended" && state.outcome.kind === "failed-to-start") {
    const { errno, message } = state.outcome
    return fail(failure("SPAWN_FAILED", message, { errno, execution_id: id }))
  }
  if (leader === null) return ok({ status: "queued", execution_id: id, ...again })
  const { pid } = leader
  return ok({ status: "started", execution_id: id, pid, pgid: pid, ...again })
}
