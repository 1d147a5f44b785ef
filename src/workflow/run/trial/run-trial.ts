import { copyFileSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { CallError } from "../../../client/client-error.ts"
import type { Digest, TrialStep, TrialWork } from "../../../execution/trial/announcement.ts"
import { type AttestedTrial, Statement } from "../../../execution/trial/attestation.ts"
import type { ResultOf } from "../../../protocol/methods.ts"
import { againPlace, checksOf } from "../../plan/definition.ts"
import { filesUsed, isOnlyLookedAt } from "../../plan/named-files.ts"
import type { Change } from "../places/ground.ts"
import { trialVariable } from "../within-trial.ts"
import type { World } from "../world.ts"
import type { PreparedTrial } from "./prepared-trial.ts"
import type { Tell } from "./progress.ts"
import { runSession, type SessionOptions } from "./session-act.ts"
import { goesOn, runStep, type StepEnd } from "./step-run.ts"
import { readTail } from "./step-tail.ts"

export type TrialToRun = {
  work: TrialWork & { chain?: Digest; continues?: { sequence: number; digest: Digest } }
  version: Digest
  prepared: PreparedTrial
  /** What the act is told. */
  prompt: string
  /** Of an act that is an agent's session. */
  session: SessionOptions
  environment: Record<string, string>
  timeoutSeconds?: number | undefined
}

export type TrialHandling = {
  tell: Tell
  signal: AbortSignal
  /** Called when the act has ended, before the checks run. */
  afterAct(): Promise<string | null>
  /** Called before the verdict. */
  beforeEnd(trial: string, written: string | null): Promise<void>
}

export type TrialResult = {
  readonly trial: AttestedTrial
  readonly costUsd: number | null
  /** What the act has written, before anything else ran there. */
  readonly changes: readonly Change[]
  /** What `afterAct` has found. */
  readonly written: string | null
}

/** So soon it is lost when its runner is gone. */
const leaseMs = 15_000

/** Announces a trial, runs its steps, and has it judged. It is ended however it goes. */
export async function runTrial(
  world: World,
  toRun: TrialToRun,
  handling: TrialHandling,
): Promise<TrialResult> {
  const { client } = world
  const { tell, signal } = handling
  const { work, version, prepared } = toRun
  const { definition } = prepared
  const begun = await client.call("trial.begin", {
    work,
    version,
    definition,
    lease_ms: leaseMs,
    ...(world.runner === null ? {} : { runner: world.runner }),
  })
  const { trial, sequence } = begun
  const item = work.item ?? null
  tell({ kind: "trial", trial, sequence, item, steps: definition.steps.length })
  using _lease = keepLease(world, begun)
  const run = new RunningTrial(world, toRun, begun, tell, signal)
  const { changes, written } = await run.steps(() => handling.afterAct())
  await handling.beforeEnd(trial, written)
  const ended = await client.call("trial.end", { trial })
  const { predicate } = statementIn(ended.envelope)
  const costUsd = costOf(predicate.trial)
  const { verdict, reasons } = ended
  tell({ kind: "verdict", trial, sequence, item, verdict, reasons, cost_usd: costUsd })
  return { trial: predicate.trial, costUsd, changes, written }
}

function keepLease({ client }: World, { trial }: ResultOf<"trial.begin">): Disposable {
  const timer = setInterval(() => {
    // Where it cannot be renewed, `trial.end` will say why.
    client.call("trial.renew", { trial }).catch(() => undefined)
  }, leaseMs / 5)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

class RunningTrial {
  readonly #world: World
  readonly #toRun: TrialToRun
  readonly #begun: ResultOf<"trial.begin">
  readonly #tell: Tell
  readonly #signal: AbortSignal

  constructor(
    world: World,
    toRun: TrialToRun,
    begun: ResultOf<"trial.begin">,
    tell: Tell,
    signal: AbortSignal,
  ) {
    this.#world = world
    this.#toRun = toRun
    this.#begun = begun
    this.#tell = tell
    this.#signal = signal
  }

  async steps(
    afterAct: () => Promise<string | null>,
  ): Promise<{ changes: readonly Change[]; written: string | null }> {
    const { prepared } = this.#toRun
    let changes: readonly Change[] = []
    let written: string | null = null
    for (const step of prepared.definition.steps) {
      if (step.optional === true || (step.role === "red" && step.reuses !== undefined)) {
        if (step.id.startsWith("red-again-") && !(await this.#redAgain(step, changes))) break
        continue
      }
      if (this.#signal.aborted) break
      if (!goesOn(step.role, await this.#run(step))) break
      if (step.role !== "act") continue
      changes = await prepared.act.changes()
      written = await afterAct()
    }
    return { changes, written }
  }

  async #run(step: TrialStep): Promise<StepEnd> {
    const { sequence } = this.#begun
    const { id, role } = step
    let execution: string | null = null
    const started = (executionId: string) => {
      execution = executionId
      this.#tell({ kind: "step", sequence, step: id, role, execution_id: executionId })
    }
    const end = await this.#start(step, started)
    if (execution === null) return end
    this.#tell({ kind: "step-ended", sequence, step: id, role, end: end.text })
    if (!goesOn(role, end)) await this.#tellOutput(id, execution)
    return end
  }

  /** Why it has failed is what it said last. */
  async #tellOutput(step: string, execution_id: string): Promise<void> {
    const { sequence } = this.#begun
    const tail = await readTail(this.#world.client, execution_id, 10)
    if (tail !== "") this.#tell({ kind: "step-output", sequence, step, execution_id, tail })
  }

  async #start(step: TrialStep, started: (id: string) => void): Promise<StepEnd> {
    const { trial, sequence } = this.#begun
    const { work, prompt, session: options, environment, timeoutSeconds } = this.#toRun
    const labels = { work: work.name.slice(0, 256), trial: `${sequence}`, step: step.id }
    const { client } = this.#world
    const { policy } = await client.connected
    // With an allow-list, an act has the service's environment, as every request without `env`.
    const own = policy === "allow-list" ? {} : { ...environment, [trialVariable]: trial }
    try {
      if (step.role === "act" && step.session !== undefined) {
        const { cwd } = step
        return await runSession(client, { trial, cwd, prompt, labels, options }, this.#signal, {
          started,
          asks: (question) => this.#tell({ kind: "question", sequence, ...question }),
          costs: () => undefined,
        })
      }
      const timeout = timeoutSeconds === undefined ? {} : { timeoutSeconds }
      const act = step.role === "act" ? { environment: own, input: prompt, ...timeout } : null
      return await runStep(client, { trial, step, labels, act }, this.#signal, started)
    } catch (error) {
      // What could not be started has an end, too: the trial is judged by it.
      if (!(error instanceof CallError) || !startFailures.has(error.failure.reason)) throw error
      this.#tell({ kind: "note", text: `${step.id}: ${error.message}` })
      return { exitCode: null, text: error.message }
    }
  }

  /** With the tests that the act has written, but without its work: then they must still fail. */
  async #redAgain(step: TrialStep, changes: readonly Change[]): Promise<boolean> {
    const { prepared } = this.#toRun
    const { planned } = prepared
    const check = checksOf(planned.aim).find(({ name }) => step.id === `red-again-${name}`)
    if (check === undefined) return true
    const written = changes.filter(({ kind }) => kind === "written").map(({ path }) => path)
    const { mayChange } = prepared
    const used = filesUsed(check.run, written).filter(
      (path) => path !== mayChange || !isOnlyLookedAt(check.run, path),
    )
    if (used.length === 0) return true
    if (!(await this.#makeBase())) return false
    const place = againPlace(check, planned.places)
    for (const path of used) copyInto(place, prepared.act.path, path)
    return goesOn("red", await this.#run(step))
  }

  #hasBase = false

  async #makeBase(): Promise<boolean> {
    if (this.#hasBase) return true
    this.#hasBase = true
    const { prepared } = this.#toRun
    await prepared.makeBase()
    for (const step of prepared.definition.steps) {
      if (!step.id.startsWith("setup-again-")) continue
      if (!goesOn(step.role, await this.#run(step))) return false
    }
    return true
  }
}

const startFailures: ReadonlySet<string> = new Set([
  "SPAWN_FAILED",
  "SECURITY_DENIED",
  "AGENT_UNAVAILABLE",
])

function copyInto(place: string, from: string, path: string): void {
  const target = join(place, path)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(join(from, path), target)
}

function statementIn({ payload }: { payload: string }): Statement {
  return Statement.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")))
}

function costOf({ steps }: AttestedTrial): number | null {
  const costs = steps.flatMap(({ session, reused }) =>
    session === null || reused ? [] : [session.cost_usd],
  )
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
}
