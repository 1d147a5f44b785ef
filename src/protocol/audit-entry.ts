import { z } from "zod"
import { ExecutionIdPrefix } from "../execution/id.ts"
import { Outcome } from "../execution/state.ts"
import { TrialVerdict } from "../execution/trial/announcement.ts"

/** Whoever fills the audit trail with long strings gets short ones. */
function text(mostCharacters: number) {
  return z
    .string()
    .transform((given) =>
      given.length <= mostCharacters ? given : `${given.slice(0, mostCharacters - 1)}…`,
    )
}

const count = z.int().min(1)
const happened = z.literal("happened")

/** Who asks, and from where. */
export const Origin = z.object({
  principal: z.string().describe("by which the caller is known"),
  address: z.string().describe("where it comes from: an address, or `unix`"),
  via: z.string().describe("the way it comes: `websocket`, `http`"),
  from_node: z.string().optional().describe("the node of the fleet that speaks for the caller"),
})
export type Origin = z.infer<typeof Origin>

const principal = text(256)

const CommandFacts = z.object({
  command: z.string().optional().describe("of a refused request that gave a command line"),
  argv: z.array(z.string()).optional(),
  cut: count.optional().describe("characters of the command that are left out here"),
  cwd: text(1024).optional(),
  env: z.array(z.string()).describe("names the request added; values are never noted"),
  env_cut: count.optional().describe("names that are left out here"),
  shell: z.boolean().optional(),
})
export type CommandFacts = z.infer<typeof CommandFacts>

const TrialFacts = z.object({
  trial: text(64).optional().describe("absent where its announcement was refused"),
  work: text(256).optional(),
  sequence: z.int().optional(),
})
export type TrialFacts = z.infer<typeof TrialFacts>

const Order = z.object({ type: z.string(), signal: z.union([text(32), z.int()]).optional() })

/** Somebody asked for something. */
export const Attempt = z.object({
  event: z.literal("attempt"),
  principal: principal.nullable().describe("null for one who did not say, or lied"),
  address: text(64),
  via: text(32),
  from_node: text(64).optional().describe("the node of the fleet that spoke for the caller"),
  to_node: text(64).optional().describe("the node of the fleet that has done it"),
  method: text(64),
  execution_id: ExecutionIdPrefix.optional(),
  outcome: z.enum(["allowed", "refused"]),
  reason: text(64).optional().describe("the stable name of a refusal"),
  message: text(512).optional(),
  repeated: z.boolean().optional().describe("an idempotency key found an earlier execution"),
  what: z.union([CommandFacts, Order, TrialFacts]).optional(),
  count: count.optional().describe("so many of the same; all else is the first one's"),
})
export type Attempt = z.infer<typeof Attempt>

/**
 * What the gateway has refused: whatever is allowed here, the keeper has done. The message is cut
 * far beyond what is noted of it: the keeper's patterns would not find a secret that is cut in two.
 */
export const RefusedAttempt = Attempt.extend({
  outcome: z.literal("refused"),
  message: text(16_384).optional(),
})
export type RefusedAttempt = z.infer<typeof RefusedAttempt>

/** What another node has done for a caller of this one: its own trail has the rest. */
export const PassedOnAttempt = Attempt.extend({ outcome: z.literal("allowed"), to_node: text(64) })
export type PassedOnAttempt = z.infer<typeof PassedOnAttempt>

const ExecutionEnded = z.object({
  event: z.literal("execution-ended"),
  principal: principal.describe("who had asked for it"),
  execution_id: ExecutionIdPrefix,
  outcome: happened,
  what: Outcome,
})

/** An approval rule has answered a question of an agent; what people answer is an attempt. */
const QuestionDecided = z.object({
  event: z.literal("question-decided"),
  principal: principal.describe("whose session it is"),
  execution_id: ExecutionIdPrefix,
  outcome: z.enum(["allowed", "refused"]),
  what: z.object({
    question_id: text(64),
    by: text(4096).describe("`rule:NAME`, or `deadline` where nobody had answered in time"),
    rule: text(4096),
    rule_from: z.enum(["service", "session"]),
    tool: text(256),
  }),
})

const SessionRestarted = z.object({
  event: z.literal("session-restarted"),
  principal: principal.describe("who had asked for the session"),
  execution_id: ExecutionIdPrefix.describe("that ended with the service"),
  outcome: happened,
  what: z.object({ as: ExecutionIdPrefix, attempt: z.int() }),
})

const SessionInterrupted = z.object({
  event: z.literal("session-interrupted"),
  principal: principal.describe("who had asked for the session"),
  execution_id: ExecutionIdPrefix.describe("that ended with the service"),
  outcome: happened,
  what: z.object({ why: text(512) }),
})

/** A trial has its verdict. */
const TrialJudged = z.object({
  event: z.literal("trial-judged"),
  principal: principal.describe("who had announced it"),
  outcome: happened,
  what: z.object({
    trial: text(64),
    work: text(256),
    sequence: z.int(),
    verdict: TrialVerdict,
    reason: text(512),
  }),
})

const ServiceStarted = z.object({
  event: z.literal("service-started"),
  outcome: happened,
  what: z.object({
    version: z.string(),
    pid: z.int(),
    uid: z.int(),
    policy: z.string(),
    containment: z.string(),
    listen: z.array(text(256)),
    lost: z.int().min(0).describe("executions that an earlier service left without an end"),
    upgraded_from: z.string().optional().describe("the version that handed the service over"),
    upgrade_failed: text(256).optional().describe("why the program to change to did not go on"),
    handed_over: z.int().min(0).optional().describe("executions that went on through it"),
  }),
})

const ServiceEnded = z.object({
  event: z.literal("service-ended"),
  outcome: happened,
  what: z.object({ why: text(64), recorded: z.boolean().describe("whether every end is") }),
})

const Recovered = z.object({
  event: z.literal("recovered"),
  outcome: happened,
  what: z.object({
    cut_bytes: count.describe("that came after the last sound line, as a crash may leave them"),
    set_aside: text(64).optional().describe("the file they are in: it had no sound line at all"),
  }),
})

const LinesLost = z.object({
  event: z.literal("lines-lost"),
  outcome: happened,
  what: z.object({ since: z.iso.datetime(), why: text(64) }),
  count,
})

/** The first line of a file: what the rest is verified with when older files are gone. */
export const FileBegan = z.object({
  event: z.literal("file-began"),
  outcome: happened,
  what: z.object({
    previous: z.string().describe("hash of the line before, in the file before"),
    kept_from: z.int().positive().describe("the oldest line that is kept from now on"),
  }),
})

/** What may be noted. Parsing one also cuts its strings and puts its fields in order. */
export const AuditNote = z.discriminatedUnion("event", [
  Attempt,
  ExecutionEnded,
  QuestionDecided,
  SessionRestarted,
  SessionInterrupted,
  TrialJudged,
  ServiceStarted,
  ServiceEnded,
  Recovered,
  LinesLost,
  FileBegan,
])
export type AuditNote = z.infer<typeof AuditNote>

/** A line of the audit trail. */
export const AuditEntry = z
  .object({
    number: z.int().positive().describe("1, 2, 3 … without a gap"),
    time: z.iso.datetime(),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .and(AuditNote)
export type AuditEntry = z.infer<typeof AuditEntry>
