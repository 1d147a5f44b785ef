import { createHash } from "node:crypto"
import { join } from "node:path"
import { CallError } from "../../client/client-error.ts"
import type { Digest } from "../../execution/trial/announcement.ts"
import type { Aim, AnnouncedAct } from "../plan/definition.ts"
import { reusableReds } from "../plan/reusable-reds.ts"
import type { WorkState } from "./files/work-state.ts"
import type { Snapshot } from "./places/ground.ts"
import type { RunOptions, Spending } from "./run-options.ts"
import { type PreparedTrial, prepareTrial, type Sparing } from "./trial/prepared-trial.ts"
import { runTrial, type TrialResult } from "./trial/run-trial.ts"
import type { SessionOptions } from "./trial/session-act.ts"
import { refuseWithinTrial } from "./within-trial.ts"
import { WorkFailure } from "./work-failure.ts"
import { type Workspace, workFiles } from "./workspace.ts"
import type { World } from "./world.ts"

export type TrialAsked = {
  state: WorkState
  aim: Aim
  snapshot: Snapshot
  version: Digest
  item: string | null
  /** What the act is told; null where nothing acts. */
  prompt: string | null
  sparing?: Sparing
}

export type TrialHooks = {
  afterAct?(prepared: PreparedTrial): Promise<string | null>
  beforeEnd?(trial: string, written: string | null): Promise<void>
}

/** One trial of a work, from its places to its verdict. */
export async function runOneTrial(
  world: World,
  workspace: Workspace,
  asked: TrialAsked,
  options: RunOptions,
  spending: Spending,
  hooks: TrialHooks = {},
): Promise<TrialResult & { prepared: PreparedTrial }> {
  const { state, snapshot, version } = asked
  await refuseWithinTrial(world)
  refuseDamaged(state)
  const reds = reusableReds(state.summary.trials, version, snapshot.tree)
  try {
    return await attempt(world, workspace, asked, options, spending, hooks, reds)
  } catch (error) {
    // A red of another service's is not known here.
    const isUnknown = error instanceof CallError && error.failure.reason === "NOT_ANNOUNCED"
    if (!isUnknown || reds.size === 0) throw error
    return attempt(world, workspace, asked, options, spending, hooks, new Map())
  }
}

async function attempt(
  world: World,
  workspace: Workspace,
  asked: TrialAsked,
  options: RunOptions,
  spending: Spending,
  hooks: TrialHooks,
  reds: ReturnType<typeof reusableReds>,
): Promise<TrialResult & { prepared: PreparedTrial }> {
  const { state, aim, snapshot, version, item, prompt } = asked
  const { settings } = state.work
  const files = workFiles(workspace, state)
  const session = sessionOptions(state, options, spending)
  const prepared = await prepareTrial(workspace, {
    work: state.work,
    files,
    aim,
    snapshot,
    reds,
    protect: settings.protect,
    sparing: asked.sparing,
    act: prompt === null ? null : announcedAct(settings.agent, prompt, session),
  })
  const { act } = prepared.planned.places
  const of = { WORK_FILE: join(act, files.file), ...(item === null ? {} : { WORK_ITEM: item }) }
  const result = await runTrial(
    world,
    {
      work: workOf(state, item),
      version,
      prepared,
      prompt: prompt ?? "",
      session,
      environment: { ...inherited(world.environment), PWD: act, ...of },
      timeoutSeconds: options.timeoutSeconds ?? undefined,
    },
    {
      tell: options.tell,
      signal: options.signal,
      afterAct: async () => (await hooks.afterAct?.(prepared)) ?? null,
      beforeEnd: async (trial, written) => hooks.beforeEnd?.(trial, written),
    },
  )
  spending.add(result.costUsd)
  return { ...result, prepared }
}

/** Nothing of a damaged ledger counts, so there is nothing to go on with. */
export function refuseDamaged({ ledgerPath, verified: { damages } }: WorkState): void {
  const [first] = damages
  if (first === undefined) return
  const where = first.line === null ? "" : `, line ${first.line}`
  throw new WorkFailure(
    `The ledger ${ledgerPath} is damaged${where}: ${first.reason}. Restore it from a backup.`,
  )
}

export function workOf({ path, name, work, chain, verified }: WorkState, item: string | null) {
  const { head } = verified
  const known = chain === null ? {} : { chain, ...(head === null ? {} : { continues: head }) }
  return { path, name, kind: work.kind, ...(item === null ? {} : { item }), ...known }
}

export function announcedAct(agent: string, prompt: string, session: SessionOptions): AnnouncedAct {
  if (agent !== "claude") return { argv: ["bash", "-c", agent] }
  const { model, permission_mode, args } = session
  return {
    session: {
      agent,
      prompt: createHash("sha256").update(prompt).digest("hex"),
      ...(model === undefined ? {} : { model }),
      ...(permission_mode === undefined ? {} : { permission_mode }),
      ...(args === undefined ? {} : { args }),
    },
  }
}

export function sessionOptions(
  { work }: WorkState,
  { session, timeoutSeconds }: RunOptions,
  { leftUsd }: Spending,
): SessionOptions {
  const model = session.model ?? work.settings.others.get("model")
  return {
    agent: "claude",
    permission_mode: session.permission_mode ?? "acceptEdits",
    ...(typeof model === "string" && model !== "" ? { model } : {}),
    ...(leftUsd === null ? {} : { max_cost_usd: leftUsd }),
    ...(timeoutSeconds === null ? {} : { timeout: timeoutSeconds }),
  }
}

export function inherited(environment: World["environment"]): Record<string, string> {
  const given = Object.entries(environment)
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
