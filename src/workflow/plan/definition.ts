import type { ExecutionId } from "../../execution/id.ts"
import type { ActStep, TrialDefinition, TrialStep } from "../../execution/trial/announcement.ts"
import type { WorkCheck, WorkSettings } from "../documents/front-matter.ts"
import { reachableScript } from "./protection.ts"

/** What one trial is to show: the checks of a prompt, or those of one task. */
export type Aim = Pick<WorkSettings, "checks" | "guards" | "setup" | "needs" | "recovery">

export type TrialPlaces = {
  base: string
  act: string
  empty: string
  /** One for every check that is spoiled. */
  spoiled(number: number): string
}

export type PlannedTrial = {
  aim: Aim
  places: TrialPlaces
  tree: string
  /** Null where nothing acts: then only is looked whether the checks still pass. */
  act: AnnouncedAct | null
  /** Texts that fail where something was changed that must not be. */
  guards: { protect: string | null; surroundings: string | null }
  protect: readonly string[]
  /** Earlier executions that are red for the same check, place, version and tree. */
  reds: ReadonlyMap<string, ExecutionId>
}

export type AnnouncedAct = Pick<ActStep, "argv" | "command" | "session">

/** A check with what its steps are called, and what a person wrote, where that says more. */
export type NamedCheck = WorkCheck & { name: string; told?: string }

export function checksOf({ checks, recovery }: Aim): NamedCheck[] {
  return [
    ...checks.map((check, index) => ({ ...check, name: `${index + 1}` })),
    ...recovery.map((check, index) => ({ ...check, name: `recovery-${index + 1}` })),
  ]
}

/** What the same red is found by again. */
export function redKey({ red, spoil, run }: WorkCheck): string {
  return JSON.stringify([red, spoil, run])
}

export function needsBase({ aim, reds }: Pick<PlannedTrial, "aim" | "reds">): boolean {
  const isOpen = checksOf(aim).some((check) => check.red === "base" && !reds.has(redKey(check)))
  return isOpen || aim.guards.length > 0
}

/** Of one trial, in the order in which its steps run. */
export function definitionOf(planned: PlannedTrial): TrialDefinition {
  const { aim, places, tree, protect } = planned
  const { base, act } = places
  const checks = checksOf(aim)
  const hasBase = needsBase(planned)
  const steps: TrialStep[] = [
    ...aim.needs.map((address, index) => needStep(address, index, act)),
    ...(hasBase ? setupSteps(aim, "setup-base", base) : []),
    ...checks.flatMap((check) => redSteps(check, planned)),
    ...aim.guards.map((run, index) => guardStep(`guard-before-${index + 1}`, run, base)),
    ...actSteps(planned, hasBase),
    ...setupSteps(aim, "setup", act),
    ...checks.map(({ name, run, told }): TrialStep => {
      const check = told === undefined ? {} : { check: told }
      return { id: `green-${name}`, role: "green", cwd: act, run, ...check }
    }),
    ...aim.guards.map((run, index) => guardStep(`guard-after-${index + 1}`, run, act)),
  ]
  return { tree, steps, protect: [...protect], needs: [...aim.needs] }
}

function actSteps(planned: PlannedTrial, hasBase: boolean): TrialStep[] {
  const { aim, places, act } = planned
  if (act === null) return []
  return [
    { id: "act", role: "act", cwd: places.act, ...act },
    ...protectionSteps(planned),
    ...(hasBase ? [] : setupSteps(aim, "setup-again", places.base).map(optional)),
    ...checksOf(aim).map((check) => redAgainStep(check, planned)),
  ]
}

function needStep(address: string, index: number, cwd: string): TrialStep {
  const { hostname, port, protocol } = new URL(address)
  const known: Record<string, number> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 }
  const host = hostname.replace(/^\[|\]$/g, "")
  const number = port === "" ? (known[protocol] ?? 80) : Number(port)
  const run = reachableScript(host, number)
  return { id: `needs-${index + 1}`, role: "needs", cwd, run, check: address }
}

function setupSteps({ setup }: Aim, id: string, cwd: string): TrialStep[] {
  return setup.map((run, index) => ({ id: `${id}-${index + 1}`, role: "setup", cwd, run }))
}

function guardStep(id: string, run: string, cwd: string): TrialStep {
  return { id, role: "guard", cwd, run }
}

function optional(step: TrialStep): TrialStep {
  return { ...step, optional: true }
}

function redSteps(check: NamedCheck, { aim, places, reds }: PlannedTrial): TrialStep[] {
  const { name, run, red, spoil } = check
  const id = `red-${name}`
  // What was spoiled is needed again, for the tests that the act may write.
  const earlier = red === "spoil" ? undefined : reds.get(redKey(check))
  const cwd = redPlace(check, places)
  if (earlier !== undefined) return [{ id, role: "red", cwd, run, red, reuses: earlier }]
  const step: TrialStep = { id, role: "red", cwd, run, red }
  if (red !== "spoil" || spoil === null) return [step]
  const spoiling: TrialStep = { id: `spoil-${name}`, role: "spoil", cwd, run: spoil }
  return [...setupSteps(aim, `setup-${name}-spoiled`, cwd), spoiling, step]
}

function redPlace({ red, name }: NamedCheck, places: TrialPlaces): string {
  if (red === "base") return places.base
  return red === "empty" ? places.empty : places.spoiled(spoilNumber(name))
}

function spoilNumber(name: string): number {
  return Number(/\d+$/.exec(name)?.[0] ?? 0) + (name.startsWith("recovery") ? 1000 : 0)
}

/** Where it must fail with the tests that the act has written, too: without the work itself. */
export function againPlace({ red, name }: NamedCheck, places: TrialPlaces): string {
  return red === "spoil" ? places.spoiled(spoilNumber(name)) : places.base
}

function redAgainStep(check: NamedCheck, { places }: PlannedTrial): TrialStep {
  const { name, run, red } = check
  const where = red === "spoil" ? "spoil" : "base"
  const cwd = againPlace(check, places)
  return { id: `red-again-${name}`, role: "red", cwd, run, red: where, optional: true }
}

function protectionSteps({ guards, places: { act }, protect }: PlannedTrial): TrialStep[] {
  const steps: TrialStep[] = []
  const told = `unchanged: ${protect.join(", ")}`.slice(0, 65_536)
  if (guards.protect !== null) {
    steps.push({ id: "protected", role: "guard", cwd: act, run: guards.protect, check: told })
  }
  if (guards.surroundings !== null) {
    const check = "unchanged outside the Implementation Code Block"
    steps.push({ id: "surroundings", role: "guard", cwd: act, run: guards.surroundings, check })
  }
  return steps
}
