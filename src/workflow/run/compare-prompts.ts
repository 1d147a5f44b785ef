import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import { type Counts, countsOf } from "../ledger/counts.ts"
import { fisherExact } from "../ledger/fisher.ts"
import { type Interval, wilsonInterval } from "../ledger/wilson.ts"
import { atOnce } from "./at-once.ts"
import { bringUpToDate, type WorkState } from "./files/work-state.ts"
import { type RunOptions, Spending } from "./run-options.ts"
import { refuseWithoutChecks, tryOnce, whyStop } from "./run-prompt.ts"
import { WorkFailure } from "./work-failure.ts"
import { openWorkspace, type Workspace } from "./workspace.ts"
import type { World } from "./world.ts"

export type CompareOptions = RunOptions & {
  trials: number // of each
  jobs: number
}

/** What the trials of one comparison have shown of one prompt. */
export type Compared = {
  readonly path: string
  readonly name: string
  readonly trials: readonly AttestedTrial[]
  readonly counts: Counts
  readonly interval: Interval
  readonly costUsd: number
}

export type Comparison = {
  readonly prompts: readonly [Compared, Compared]
  /** Of Fisher's exact test, two-sided. */
  readonly p: number
  readonly isSignificant: boolean
  /** Which of the two; null where nothing shows that they differ. */
  readonly better: 0 | 1 | null
  /** What keeps the numbers from saying what they seem to. */
  readonly notes: readonly string[]
  readonly stopped: string | null
}

/** How often chance alone may call two equal prompts different. */
const significance = 0.05

/** Tries two prompts in turn, so that what changes meanwhile meets both of them alike. */
export async function comparePrompts(
  world: World,
  paths: readonly [string, string],
  options: CompareOptions,
): Promise<Comparison> {
  const states = [await tried(world, paths[0]), await tried(world, paths[1])] as const
  if (states[0].path === states[1].path) {
    throw new WorkFailure(`${states[0].path} cannot be compared to itself: name two files.`)
  }
  await using workspace = await openWorkspace(world, states[0])
  await using otherWorkspace = await openWorkspace(world, states[1])
  const one: Side = { state: states[0], workspace, trials: [], costUsd: 0 }
  const other: Side = { state: states[1], workspace: otherWorkspace, trials: [], costUsd: 0 }
  const spending = new Spending(options.maxCostUsd)
  const turns = Array.from({ length: options.trials }, () => [one, other]).flat()
  let stopped: string | null = null
  await atOnce(Math.min(options.jobs, turns.length), options.signal, async (signal) => {
    for (let side = turns.shift(); side !== undefined; side = turns.shift()) {
      stopped ??= whyStop(spending, signal)
      if (stopped !== null) return
      await tryOne(world, side, { ...options, signal }, spending)
    }
  })
  return comparisonOf(one, other, stopped)
}

type Side = {
  readonly state: WorkState
  readonly workspace: Workspace
  readonly trials: AttestedTrial[]
  costUsd: number
}

async function tried(world: World, path: string): Promise<WorkState> {
  const state = await bringUpToDate(world, path)
  refuseWithoutChecks(state)
  return state
}

async function tryOne(
  world: World,
  side: Side,
  options: RunOptions,
  spending: Spending,
): Promise<void> {
  const { state, workspace, trials } = side
  const tell: RunOptions["tell"] = (progress) => {
    if (progress.kind === "verdict") side.costUsd += progress.cost_usd ?? 0
    options.tell(progress)
  }
  const told = { ...options, tell }
  trials.push(await tryOnce(world, workspace, state, told, spending))
}

function comparisonOf(one: Side, other: Side, stopped: string | null): Comparison {
  const prompts = [compared(one), compared(other)] as const
  const [first, second] = prompts
  const p = fisherExact(first.counts, second.counts)
  const isSignificant = p < significance
  const shareOf = ({ counts: { success, failure } }: Compared) => success / (success + failure)
  const better = shareOf(first) > shareOf(second) ? 0 : 1
  return {
    prompts,
    p,
    isSignificant,
    better: isSignificant ? better : null,
    notes: notesOn(one, other),
    stopped,
  }
}

function compared({ state: { path, name }, trials, costUsd }: Side): Compared {
  const counts = countsOf(trials.map(({ verdict }) => verdict))
  const interval = wilsonInterval(counts.success, counts.failure)
  return { path, name, trials, counts, interval, costUsd }
}

function notesOn(one: Side, other: Side): string[] {
  const notes: string[] = []
  if (judgedBy(one) !== judgedBy(other)) {
    notes.push("they are judged by different checks: more than their texts is compared")
  }
  for (const { state, trials } of [one, other]) {
    const versions = new Set(trials.map(({ announcement }) => announcement.version))
    if (versions.size > 1) notes.push(`${state.name} was edited meanwhile: it had several versions`)
  }
  return notes
}

function judgedBy({ state: { work } }: Side): string {
  const { checks, guards, setup, recovery } = work.settings
  return JSON.stringify([checks, guards, setup, recovery])
}
