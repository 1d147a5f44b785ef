import { fail, ok, type Result } from "../../lib/result.ts"
import type { ActStep, StepRole, TrialDefinition, TrialStep } from "./announcement.ts"
import { isReused } from "./announcement.ts"

/** What somebody wants to start as a step of a trial; what is not given is as announced. */
export type StepRequest = {
  step: string | undefined
  role: StepRole | undefined
  command: string | undefined
  argv: readonly string[] | undefined
  cwd: string | undefined
  /** Of an agent's session; null for a command. */
  session: RequestedSession | null
  /** What would change what a check means, in words. */
  besides: readonly string[]
}

type RequestedSession = {
  agent: string
  /** SHA-256 of the first turn; null without one. */
  prompt: string | null
  model: string | undefined
  permission_mode: string | undefined
  args: readonly string[]
  resumes: boolean
}

/** How far each step is that was taken; a red that is used again has ended. */
export type TakenSteps = ReadonlyMap<string, "running" | "ended">

/** The announced step that a request starts, or why it is none of this trial now. */
export function announcedStep(
  { steps }: Pick<TrialDefinition, "steps">,
  taken: TakenSteps,
  request: StepRequest,
): Result<TrialStep, string> {
  const named = namedStep(steps, taken, request)
  if (!named.ok) return named
  const step = named.value
  const early = outOfOrder(steps, taken, step)
  if (early !== null) return fail(early)
  const other = step.role === "act" ? otherAct(step, request) : otherCheck(step.run, request)
  if (other !== null) return fail(`${nameOf(step)} was announced with ${other}`)
  if (request.cwd === undefined || request.cwd === step.cwd) return ok(step)
  return fail(`${nameOf(step)} was announced to run in ${quoted(step.cwd)}`)
}

function namedStep(
  steps: readonly TrialStep[],
  taken: TakenSteps,
  { step: id, role }: StepRequest,
): Result<TrialStep, string> {
  if (id !== undefined) {
    const step = steps.find((one) => one.id === id)
    if (step === undefined) return fail(`no step ${quoted(id)} was announced`)
    if (role === undefined || role === step.role) return ok(step)
    return fail(`the step ${quoted(id)} was announced as ${step.role}, not as ${role}`)
  }
  const ofRole = steps.filter((one) => one.role === role)
  if (ofRole.length === 0) return fail(`no step with the role ${role} was announced`)
  const waiting = ofRole.filter((one) => !taken.has(one.id))
  const [first, second] = waiting
  if (first === undefined) return fail(`every ${role} was started already, and each runs only once`)
  if (second === undefined) return ok(first)
  const ids = waiting.map((one) => one.id).join(", ")
  return fail(`several steps with the role ${role} wait (${ids}): say which with \`step\``)
}

function outOfOrder(
  steps: readonly TrialStep[],
  taken: TakenSteps,
  step: TrialStep,
): string | null {
  if (taken.has(step.id)) return `${nameOf(step)} was started already, and each runs only once`
  const index = steps.indexOf(step)
  const later = steps.slice(index + 1).find((one) => taken.has(one.id) && !isReused(one))
  if (later !== undefined) return `${nameOf(step)} comes before ${nameOf(later)}, which has run`
  for (const before of steps.slice(0, index)) {
    const state = taken.get(before.id)
    if (state === "running") return `${nameOf(before)} comes first, and has not ended yet`
    if (state === undefined && before.optional !== true && before.role !== "probe") {
      return `${nameOf(before)} comes first, and has not run yet`
    }
  }
  return null
}

function otherCheck(run: string, { command, argv, session, besides }: StepRequest): string | null {
  const isSame = session === null && argv === undefined && (command ?? run) === run
  if (!isSame) return `the check ${quoted(run)}, which is given as \`command\` or not at all`
  const [first] = besides
  return first === undefined ? null : `no ${first}: a check gets none`
}

function otherAct(act: ActStep, { command, argv, session }: StepRequest): string | null {
  if (act.session !== undefined) {
    return isAnnouncedSession(act.session, session) ? null : "another session of an agent"
  }
  const announced = `the command ${quoted(act.command ?? (act.argv ?? []).join(" "))}`
  if (session !== null) return announced
  if (command === undefined && argv === undefined) return null
  if (act.command !== undefined) return command === act.command ? null : announced
  return argv !== undefined && isSameList(argv, act.argv ?? []) ? null : announced
}

function isAnnouncedSession(
  announced: NonNullable<ActStep["session"]>,
  asked: RequestedSession | null,
): boolean {
  return (
    asked !== null &&
    !asked.resumes &&
    asked.agent === announced.agent &&
    asked.prompt === announced.prompt &&
    asked.model === announced.model &&
    asked.permission_mode === announced.permission_mode &&
    isSameList(asked.args, announced.args ?? [])
  )
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index])
}

function nameOf({ role, id }: TrialStep): string {
  return `${role} ${quoted(id)}`
}

const mostQuoted = 200

function quoted(text: string): string {
  return JSON.stringify(text.length <= mostQuoted ? text : `${text.slice(0, mostQuoted)}…`)
}
