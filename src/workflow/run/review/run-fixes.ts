import { basename, relative } from "node:path"
import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import type { WorkSettings } from "../../documents/front-matter.ts"
import { type Severity, severities } from "../../documents/review/fix-form.ts"
import type { Fix, FixList } from "../../documents/review/fix-list.ts"
import { numberOf, readReviewName, reviewId } from "../../documents/review/review-name.ts"
import { fixState, isClosed } from "../../ledger/fix-state.ts"
import { fixPrompt } from "../../plan/review/fix-prompt.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { type Keeping, runKeptTrial } from "../kept-trial.ts"
import { lockRunOf } from "../one-runner.ts"
import { runOneTrial } from "../one-trial.ts"
import { type RunOptions, Spending } from "../run-options.ts"
import { openTaskGround } from "../task-ground.ts"
import type { Sparing } from "../trial/prepared-trial.ts"
import { WorkFailure } from "../work-failure.ts"
import { openWorkspace, workFiles } from "../workspace.ts"
import type { World } from "../world.ts"
import { type RoundFile, requestFor, reviewHome, roundFiles } from "./round-files.ts"
import { whyFixIsOpen } from "./why-open.ts"

export type FixRunOptions = RunOptions & {
  /** Only this one, whatever its state. */
  fix: string | null
  /** Who puts things right: `claude`, or a command line; null for whom the request names. */
  fixer: string | null
}

export type FixRun = {
  readonly trials: readonly AttestedTrial[]
  readonly state: WorkState
  readonly branch: string | null
  readonly costUsd: number
  /** What is not done, and why, in words. */
  readonly missing: readonly string[]
}

/** Puts right what a review has found, the critical first, each on what those before have done. */
export async function runFixes(
  world: World,
  path: string,
  options: FixRunOptions,
): Promise<FixRun> {
  let state = await bringUpToDate(world, path)
  using _alone = lockRunOf(world, state.path)
  state = await bringUpToDate(world, path, state)
  const disagreement = idDisagreement(state)
  if (disagreement !== null) options.tell({ kind: "note", text: disagreement })
  const round = roundOf(state, options.fixer)
  const wanted = wantedFixes(state, options.fix)
  const spending = new Spending(options.maxCostUsd)
  const trials: AttestedTrial[] = []
  let stopped: string | null = null
  await using workspace = await openWorkspace(world, state)
  const ground = await openTaskGround(world, workspace, state)
  const running = { world, workspace, ground, round, options, spending }
  for (const id of wanted) {
    if (options.signal.aborted) stopped = "it was interrupted"
    else if (spending.isOver) stopped = "--max-cost is reached"
    if (stopped !== null) break
    const fix = fixListOf(state).fixes.find((one) => one.id === id)
    if (fix === undefined || fix.check === null) continue
    const first = await putRight({ ...running, state }, fix)
    trials.push(first)
    state = await bringUpToDate(world, path, state)
    if (!passedBefore(first)) continue
    trials.push(await showItHolds({ ...running, state }, fix))
    state = await bringUpToDate(world, path, state)
  }
  const missing = missingIn(state, wanted, stopped)
  return { trials, state, branch: ground.branch, costUsd: spending.spentUsd, missing }
}

/** What a request says for the fixes of its round, or what holds without one. */
type Round = { settings: WorkSettings; context: string; files: readonly string[] }

type Running = Keeping & { round: Round; state: WorkState }

/** Red, the fixer, green. */
function putRight(running: Running, fix: Fix): Promise<AttestedTrial> {
  const { workspace, state, round } = running
  const { file } = workFiles(workspace, state)
  const message = `${state.name} ${fix.id}: ${fix.issue.split("\n")[0]?.slice(0, 60) ?? ""}`
  const asked = {
    ...askedOf(running, fix),
    aim: aimFor(round.settings, fix, "base"),
    prompt: fixPrompt(fix, file, round.context),
    sparing: sparingFor(running, fix),
  }
  return runKeptTrial(running, asked, message)
}

/** Without a fixer: it passes here, and fails where it must. */
async function showItHolds(running: Running, fix: Fix): Promise<AttestedTrial> {
  const { world, workspace, ground, round, options, spending } = running
  const aim = aimFor(round.settings, fix, "elsewhere")
  await using folder = workspace.folder.part()
  const asked = { ...askedOf(running, fix), snapshot: await ground.base(folder), aim, prompt: null }
  return (await runOneTrial(world, { ...workspace, folder }, asked, options, spending)).trial
}

function askedOf({ state, round: { settings } }: Running, { id, version }: Fix) {
  const { work } = state
  return { state: { ...state, work: { ...work, settings } }, version, item: id }
}

/** Before anything was changed there was nothing to put right, or the check shows nothing. */
function passedBefore({ verdict, steps }: AttestedTrial): boolean {
  return (
    verdict === "WARNED" && steps.some(({ id, finding }) => id === "red-1" && finding === "warned")
  )
}

export function aimFor(
  { guards, setup, needs }: WorkSettings,
  { check, verification }: Fix,
  where: "base" | "elsewhere",
) {
  const { run, spoil, by } = check ?? { run: "false", spoil: null, by: null }
  const elsewhere = spoil === null ? ("empty" as const) : ("spoil" as const)
  const red = where === "base" ? ("base" as const) : elsewhere
  const authored = `${run} (for "${verification ?? ""}", by ${by})`.slice(0, mostAnnounced)
  const told = by === null ? {} : { told: authored }
  const one = { run, red, spoil: red === "spoil" ? spoil : null, ...told }
  return { checks: [one], guards, setup, needs, recovery: [] }
}

const mostAnnounced = 65_536

/** Tests may change where the fix is about one, and only that one. */
function sparingFor({ workspace, round }: Running, { file }: Fix): Sparing {
  const { directory } = workspace.ground
  const files = round.files.map((path) => relative(directory, path))
  const path = file?.replace(/^(?:\.\/)+/, "") ?? ""
  const isInside = path !== "" && !path.startsWith("/") && !path.split("/").includes("..")
  return {
    files: files.filter((one) => !one.startsWith("..") && one !== path),
    except: isInside ? path : null,
  }
}

export function roundOf({ path, work }: WorkState, fixer: string | null): Round {
  const found = requestFor(path)
  const settings = found?.request.settings ?? work.settings
  const agent = fixer ?? found?.request.fixer ?? "claude"
  // The usage checks are the reviewer's, and the rest of the files of all rounds is nobody's here.
  const others = roundFiles(reviewHome(path)).filter((one) => one.path !== path)
  return {
    settings: { ...settings, agent, checks: [], recovery: [] },
    context: found?.request.forFixer ?? "",
    files: latestFirst(others).slice(0, mostFiles),
  }
}

/** So many are protected: each is part of what is announced. */
const mostFiles = 150

function latestFirst(files: readonly RoundFile[]): string[] {
  const sorted = files.toSorted((one, other) => numberOf(other) - numberOf(one))
  return sorted.map(({ path }) => path)
}

/** Lists were renamed, or copied: what they are called is what everybody goes by. */
function idDisagreement({ path, work }: WorkState): string | null {
  const name = readReviewName(basename(path))
  const said = work.kind === "fixes" ? work.reviewId : null
  if (name === null || said === null || said === reviewId(name)) return null
  const own = reviewId(name)
  return `${basename(path)}: its review_id is "${said}", and its name says ${own}: the name counts.`
}

export function fixListOf({ path, work }: Pick<WorkState, "path" | "work">): FixList {
  if (work.kind === "fixes") return work
  throw new WorkFailure(`${path} is no list of fixes, such as 017_websocket_fixes.json.`)
}

export function inOrderOfSeverity(fixes: readonly Fix[]): Fix[] {
  const rank = (severity: Severity) => severities.indexOf(severity)
  return fixes.toSorted((one, other) => rank(one.severity) - rank(other.severity))
}

function wantedFixes(state: WorkState, only: string | null): string[] {
  const { fixes } = fixListOf(state)
  if (only === null) {
    const open = fixes.filter((fix) => !isClosed(fixState(fix, state.summary)))
    return inOrderOfSeverity(open).map(({ id }) => id)
  }
  if (fixes.some(({ id }) => id === only)) return [only]
  const ids = fixes.map(({ id }) => id).join(", ")
  throw new WorkFailure(`${state.path} has no fix ${only}: it has ${ids}.`)
}

function missingIn(state: WorkState, wanted: readonly string[], stopped: string | null): string[] {
  const open = inOrderOfSeverity(fixListOf(state).fixes).flatMap((fix) => {
    const now = fixState(fix, state.summary)
    if (!wanted.includes(fix.id) || isClosed(now)) return []
    const how =
      fix.check === null
        ? `: cc-executor review verification ${state.path} ${fix.id} --run 'COMMAND'`
        : ""
    return [`${fix.id} ${whyFixIsOpen(fix, now)}${how}`]
  })
  return stopped === null ? open : [...open, `stopped: ${stopped}`]
}
