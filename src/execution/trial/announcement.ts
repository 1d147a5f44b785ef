import { z } from "zod"
import { AgentName } from "../agent.ts"
import { ExecutionId } from "../id.ts"

/** What a trial is, as it was announced before anything of it was started. */

/** A lone surrogate has no bytes of its own, so a digest could not tell it from another. */
const text = z
  .string()
  .refine((given) => given.isWellFormed() && !given.includes("\0"), "must be text without a NUL")
const path = text.regex(/^\//, "must be an absolute path").max(4096)

export const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "a SHA-256 in lower-case hexadecimal")
  .describe("SHA-256 in lower-case hexadecimal")
export type Digest = z.infer<typeof Digest>

export const TrialId = z
  .string()
  .regex(/^[a-z2-7]{26}$/, "a trial's id is 26 characters of a-z and 2-7")
export type TrialId = z.infer<typeof TrialId>

export const StepRole = z
  .enum(["needs", "setup", "spoil", "red", "act", "green", "guard", "probe"])
  .describe(
    "`needs`, `setup` and `spoil` must succeed for the others to mean anything; `red` must fail, " +
      "`act` is the work, `green` and `guard` must pass; a `probe` decides nothing",
  )
export type StepRole = z.infer<typeof StepRole>

export const StepId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "letters, digits, `.`, `_` and `-`, at most 64")
export type StepId = z.infer<typeof StepId>

const ofEveryStep = {
  id: StepId,
  cwd: path.describe("where it runs"),
  optional: z
    .boolean()
    .optional()
    .describe("it need not run; where it does, it counts like every other"),
}

const ofEveryCheck = {
  ...ofEveryStep,
  run: text.min(1).max(65_536).describe("what `bash -e` runs"),
  check: text.max(65_536).optional().describe("what a person wrote, where that is not `run`"),
}

export const RedPlace = z
  .enum(["base", "empty", "spoil"])
  .describe("where it must fail: before the act, in an empty directory, or after a `spoil`")
export type RedPlace = z.infer<typeof RedPlace>

const AnnouncedSession = z.object({
  agent: AgentName,
  prompt: Digest.describe("of the first turn"),
  model: text.max(256).optional(),
  permission_mode: text.max(64).optional(),
  args: z.array(text).max(256).optional().describe("further arguments of the agent"),
})

const Act = z
  .object({
    ...ofEveryStep,
    role: z.literal("act"),
    argv: z.array(text).min(1).max(65_536).optional(),
    command: text.min(1).max(1_048_576).optional().describe("a command line, as for `execute`"),
    session: AnnouncedSession.optional().describe("started by `agent.start`"),
  })
  .check(
    z.refine(
      ({ argv, command, session }) =>
        [argv, command, session].filter((one) => one !== undefined).length === 1,
      "an act is one of `argv`, `command` and `session`",
    ),
  )

const Red = z.object({
  ...ofEveryCheck,
  role: z.literal("red"),
  red: RedPlace,
  reuses: ExecutionId.optional().describe(
    "an earlier `red` of the same chain, version, tree, place and text; nothing runs then",
  ),
})

const others = ["needs", "setup", "spoil", "green", "guard", "probe"] as const
const Check = z.object({ ...ofEveryCheck, role: z.enum(others) })

export const TrialStep = z.discriminatedUnion("role", [Act, Red, Check])
export type TrialStep = z.infer<typeof TrialStep>
export type ActStep = z.infer<typeof Act>
export type CheckStep = Exclude<TrialStep, ActStep>

const mostSteps = 200

export const TrialDefinition = z
  .object({
    tree: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/, "a digest in lower-case hexadecimal")
      .optional()
      .describe("what the files are before the act; a red can be used again only with it"),
    steps: z
      .array(TrialStep)
      .min(1)
      .max(mostSteps)
      .describe("in this order; each only after those before it have ended"),
    protect: z.array(text.max(4096)).max(1000).default([]).describe("what must not change"),
    needs: z.array(text.max(4096)).max(100).default([]).describe("what must be reachable"),
  })
  .check(
    z.refine<Ruled>(({ steps }) => new Set(steps.map(({ id }) => id)).size === steps.length, {
      message: "every step needs an id of its own",
      path: ["steps"],
    }),
    z.refine<Ruled>(({ steps }) => lastIndexOf(steps, "act") < firstIndexOf(steps, "green"), {
      message: "a `green` comes after the last `act`: before it, use a `probe`",
      path: ["steps"],
    }),
    z.refine<Ruled>(({ steps, tree }) => tree !== undefined || !steps.some(isReused), {
      message: "`reuses` needs the `tree`: only the same files fail in the same way",
      path: ["tree"],
    }),
  )
export type TrialDefinition = z.infer<typeof TrialDefinition>

type Ruled = { tree?: string | undefined; steps: TrialStep[] }

function firstIndexOf(steps: readonly TrialStep[], role: StepRole): number {
  const index = steps.findIndex((step) => step.role === role)
  return index < 0 ? steps.length : index
}

function lastIndexOf(steps: readonly TrialStep[], role: StepRole): number {
  return steps.findLastIndex((step) => step.role === role)
}

/** Nothing runs for it: an earlier one was there from the beginning. */
export function isReused(step: TrialStep): boolean {
  return step.role === "red" && step.reuses !== undefined
}

export const TrialWork = z.object({
  name: text.min(1).max(256),
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, "such as `prompt` or `tasks`"),
  item: text.min(1).max(256).optional().describe("one of several in the file: a task's id"),
  path: path.describe("of the file"),
})
export type TrialWork = z.infer<typeof TrialWork>

/** What is signed for and chained: its digest is that of its canonical JSON. */
export const Announcement = z.object({
  v: z.literal(1),
  trial: TrialId,
  chain: Digest.nullable().describe("digest of the first announcement; null in that one"),
  sequence: z.int().min(1),
  previous: Digest.nullable().describe("digest of the announcement before; null in the first"),
  work: TrialWork,
  version: Digest.describe("of the work's own text"),
  definition: TrialDefinition,
  principal: z.string(),
  announced_at: z.iso.datetime(),
})
export type Announcement = z.infer<typeof Announcement>

/** Which trial and step an execution is of: part of its record and its receipt. */
export const TrialPart = z.object({ id: TrialId, step: StepId, role: StepRole })
export type TrialPart = z.infer<typeof TrialPart>

export const TrialVerdict = z.enum(["PASSED", "WARNED", "FAILED", "BROKEN", "LOST"])
export type TrialVerdict = z.infer<typeof TrialVerdict>

/** What a verdict adds to the counts of its work. */
export function countsAs(verdict: TrialVerdict): "success" | "failure" | null {
  switch (verdict) {
    case "PASSED":
      return "success"
    case "FAILED":
    case "LOST":
      return "failure"
    case "WARNED":
    case "BROKEN":
      return null
  }
}
