import type { Encoding } from "../../../../src/protocol/execute.ts"
import { seededRandom } from "../../../support/seeded-random.ts"
import { kindsOfWork, oneOf, type Work } from "./work.ts"

/** Everything a run will do, and nothing of what it will meet. */
export type FaultPlan = {
  seed: number
  /** A command that takes longer than the run, and that nobody else runs. */
  nap: string
  executions: PlannedExecution[]
  faults: PlannedFault[]
}

export type PlannedExecution = {
  key: string
  work: Work
  /** Asked for when so many facts have been told. */
  afterFacts: number
  /** Who owns it: the client library, or a client that speaks the protocol by hand. */
  owner: "library" | "hand"
  encoding: Encoding
  /** In which encodings others look on, from its start. */
  observers: Encoding[]
}

export type Fault =
  | { kind: "kill-gateway" }
  | { kind: "stop-gateway"; ms: number }
  | { kind: "stop-keeper"; ms: number }
  | { kind: "kill-keeper"; restart: "at once" | "when its gateway is gone" }
  | { kind: "kill-both" }
  | { kind: "cut-sockets"; afterBytes: number }
  | { kind: "silence"; ms: number; end: "go on" | "break" }
  | { kind: "fill-disk"; ms: number }
  | { kind: "jump-clock"; seconds: number }

/** Begins when so many facts more than at the one before have been told. */
export type PlannedFault = Fault & { afterFacts: number }

/** What this machine can do, and how hard it shall be. */
export type FaultAbilities = {
  disk: boolean
  clock: boolean
  /** How long a gateway may be stopped: past ten seconds it is ended by its heartbeat. */
  longestStopMs: number
  executions: number
  faults: number
}

type Random = (below: number) => number

const encodings: Encoding[] = ["utf8", "base64", "binary"]
const hour = 3600

/** The same seed and abilities, the same plan. */
export function faultPlan(seed: number, abilities: FaultAbilities): FaultPlan {
  const random = seededRandom(seed)
  const nap = `sleep 1000.${seed}`
  const executions = Array.from({ length: abilities.executions }, (_, index) =>
    plannedExecution(index, random, nap),
  )
  const faults = Array.from({ length: abilities.faults }, () => ({
    ...plannedFault(random, abilities),
    afterFacts: random(25),
  }))
  return { seed, nap, executions, faults }
}

function plannedExecution(index: number, random: Random, nap: string): PlannedExecution {
  const name = oneOf(Object.keys(kindsOfWork), random)
  const make = kindsOfWork[name]
  if (make === undefined) throw new Error(`no work is called ${name}`)
  const work = { name, ...make(random, nap) }
  // Steps, acknowledgements and repeated input are what the library is for.
  const isLibrarys = work.steps.length > 0 || work.request.budget?.policy === "block"
  return {
    key: `${index} ${name}`,
    work,
    afterFacts: random(4) * index,
    owner: isLibrarys || random(2) === 0 ? "library" : "hand",
    encoding: oneOf(encodings, random),
    observers: random(3) === 0 ? [oneOf(encodings, random)] : [],
  }
}

function plannedFault(random: Random, abilities: FaultAbilities): Fault {
  const makers: Array<() => Fault> = [
    () => ({ kind: "kill-gateway" }),
    () => ({ kind: "stop-gateway", ms: 100 + random(abilities.longestStopMs) }),
    () => ({ kind: "stop-keeper", ms: 50 + random(1000) }),
    () => ({ kind: "kill-keeper", restart: "at once" }),
    () => ({ kind: "kill-keeper", restart: "when its gateway is gone" }),
    () => ({ kind: "kill-both" }),
    () => ({ kind: "cut-sockets", afterBytes: random(2000) }),
    () => ({ kind: "cut-sockets", afterBytes: random(300_000) }),
    () => ({ kind: "silence", ms: 50 + random(1500), end: oneOf(["go on", "break"], random) }),
    ...(abilities.disk ? [() => fillDisk(random)] : []),
    ...(abilities.clock ? [() => jumpClock(random)] : []),
  ]
  return oneOf(makers, random)()
}

function fillDisk(random: Random): Fault {
  return { kind: "fill-disk", ms: 50 + random(1500) }
}

function jumpClock(random: Random): Fault {
  return { kind: "jump-clock", seconds: oneOf([-hour, 24 * hour, -24 * hour, -1, 1], random) }
}

export function describePlan(plan: FaultPlan): string[] {
  return [
    ...plan.executions.map(({ key, owner, encoding, observers, afterFacts }) => {
      const others = observers.map((one) => `, observed in ${one}`).join("")
      return `at ${afterFacts} facts: "${key}" by ${owner} in ${encoding}${others}`
    }),
    ...plan.faults.map(({ afterFacts, ...fault }) => {
      return `${afterFacts} facts later: ${JSON.stringify(fault)}`
    }),
  ]
}
