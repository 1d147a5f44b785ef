import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import { reviewId } from "../../documents/review/review-name.ts"
import { versionOf } from "../../documents/version.ts"
import { shellWord } from "../../plan/protection.ts"
import { type PlannedReview, reviewDefinition } from "../../plan/review/review-definition.ts"
import { reviewPrompt } from "../../plan/review/review-prompt.ts"
import type { WorkState } from "../files/work-state.ts"
import { announcedAct, inherited, sessionOptions, workOf } from "../one-trial.ts"
import type { Place, Snapshot } from "../places/ground.ts"
import type { RunOptions, Spending } from "../run-options.ts"
import type { PreparedTrial } from "../trial/prepared-trial.ts"
import { runTrial } from "../trial/run-trial.ts"
import { type Workspace, workFiles } from "../workspace.ts"
import type { World } from "../world.ts"
import { readDelivery, type Texts } from "./delivery-faults.ts"
import { checkQuotes, type QuoteCheck } from "./quoted-executions.ts"
import { requestOf } from "./request-of.ts"
import type { Reverified } from "./reverify-fixes.ts"
import {
  collectStrays,
  type Found,
  keepPrevious,
  pathsInPlace,
  readFound,
  unchangedCheck,
} from "./review-place.ts"
import { roundText } from "./round-text.ts"

export type ReviewRunOptions = RunOptions & {
  /** Who reviews: `claude`, or a command line; null for whom the request names. */
  reviewer: string | null
  /** Where the two files are to be; null for the folder of the executor. */
  out: string | null
  /** This program: reviewers and checks run it. */
  self: readonly string[]
}

export type Review = {
  world: World
  workspace: Workspace
  state: WorkState
  options: ReviewRunOptions
  spending: Spending
  out: string
  reverified: Reverified | null
}

export type Refused = {
  kind: "refused"
  trial: AttestedTrial
  faults: readonly string[]
  found: Found
  /** Where it has worked: what it has run there need not be run again. */
  directory: string
  mayRepeat: boolean
}

export type Tried =
  | Refused
  | { kind: "delivered"; trial: AttestedTrial; texts: Texts; quotes: QuoteCheck }

/** One attempt, as a trial: what the reviewer starts has no say in it. */
export async function tryOnce(review: Review, before: Refused | null): Promise<Tried> {
  const { world, workspace, state, options, spending, out, reverified } = review
  const request = requestOf(state)
  const { name, settings } = request
  const { ground } = workspace
  await using folder = workspace.folder.part()
  const files = workFiles(workspace, state)
  const snapshot = await ground.snapshot(files, folder)
  const place = await snapshot.place(folder.fresh("review"))
  const paths = pathsInPlace(ground.directory, out, name)
  mkdirSync(dirname(join(place.path, paths.fixes)), { recursive: true })
  if (before !== null) keepPrevious(place.path, paths, before.found)
  const program = options.self.map(shellWord).join(" ")
  const where = shellWord(`--state-dir=${world.stateDirectory}`)
  const usageLine = `${program} review usage ${where} ${shellWord(files.file)}`
  const prompt = reviewPrompt({
    request,
    file: files.file,
    ...paths,
    date: world.now().toISOString().slice(0, 10),
    usage: usageLine,
    round: reverified === null ? null : roundText(reverified),
    faults: before?.faults ?? [],
  })
  // What it is told to run is not worth a question.
  const args = ["--allowedTools", `Bash(${usageLine})`]
  const session = { ...sessionOptions(state, options, spending), args }
  const agent = options.reviewer ?? request.reviewer
  const planned: PlannedReview = {
    place: place.path,
    tree: snapshot.tree,
    setup: settings.setup,
    act: announcedAct(agent, prompt, session),
    unchanged: await unchangedCheck(snapshot, place.path, paths),
    delivered: `${program} review check ${shellWord(paths.feedback)} ${shellWord(paths.fixes)}`,
  }
  const variables = {
    PWD: place.path,
    WORK_FILE: join(place.path, files.file),
    // What it runs for its feedback has to be on the record of this service.
    CC_EXECUTOR_STATE_DIR: world.stateDirectory,
    REVIEW_ID: reviewId(name),
    REVIEW_FEEDBACK: join(place.path, paths.feedback),
    REVIEW_FIXES: join(place.path, paths.fixes),
  }
  const result = await runTrial(
    world,
    {
      work: workOf(state, null),
      version: versionOf(state.text.split("\n")),
      prepared: preparedReview(planned, snapshot, place),
      prompt,
      session,
      environment: { ...inherited(world.environment), ...variables },
      timeoutSeconds: options.timeoutSeconds ?? undefined,
    },
    {
      tell: options.tell,
      signal: options.signal,
      afterAct: async () => {
        await collectStrays(place, paths)
        return null
      },
      beforeEnd: async () => undefined,
    },
  )
  spending.add(result.costUsd)
  const { trial } = result
  const found = readFound(place.path, paths)
  const refused = (faults: readonly string[], mayRepeat: boolean): Tried => {
    return { kind: "refused", trial, faults, found, directory: place.path, mayRepeat }
  }
  const other = whyRefused(trial)
  if (other !== null) return refused([other], false)
  const texts = readDelivery(found, name)
  if (!texts.ok) return refused(texts.failure, true)
  if (trial.verdict !== "PASSED") return refused(trial.reasons, false)
  const usage = settings.checks.map(({ run }) => run)
  const quotes = await checkQuotes(world, texts.value.feedback, {
    directories: [place.path, ...(before === null ? [] : [before.directory])],
    usage,
  })
  if (quotes.faults.length > 0) return refused(quotes.faults, true)
  return { kind: "delivered", trial, texts: texts.value, quotes }
}

/** Before the form is looked at: nothing that is written mends these. */
function whyRefused({ verdict, reasons, steps }: AttestedTrial): string | null {
  const findingOf = (step: string) => steps.find(({ id }) => id === step)?.finding
  if (findingOf("unchanged-before") === "broken") {
    return "its setup leaves files that git does not ignore, so changes could not be told apart"
  }
  if (findingOf("unchanged") === "failed") {
    return "the reviewer has changed more than its two files: it must not edit what it reviews"
  }
  const act = findingOf("act")
  if (act === "right" && verdict !== "LOST") return null
  return `the reviewer has not finished: ${reasons.join("; ")}`
}

function preparedReview(planned: PlannedReview, snapshot: Snapshot, act: Place): PreparedTrial {
  const { place, tree } = planned
  const aim = { checks: [], guards: [], setup: [], needs: [], recovery: [] }
  const places = { base: place, act: place, empty: place, spoiled: () => place }
  return {
    definition: reviewDefinition(planned),
    planned: {
      aim,
      places,
      tree,
      act: planned.act,
      protect: [],
      reds: new Map(),
      guards: { protect: null, surroundings: null },
    },
    snapshot,
    act,
    mayChange: null,
    makeBase: async () => undefined,
  }
}
