import { readFileSync } from "node:fs"
import { join } from "node:path"
import { randomName } from "../../../client/random-name.ts"
import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import { decodeWork } from "../../documents/fault.ts"
import { type Prompt, readPrompt } from "../../documents/prompt.ts"
import { readWork } from "../../documents/work-kind.ts"
import { improvementDefinition } from "../../improve/improvement-definition.ts"
import { improvementFault } from "../../improve/improvement-faults.ts"
import { improverPrompt } from "../../improve/improver-prompt.ts"
import { bodyStart } from "../../improve/replace-body.ts"
import { ownText } from "../../plan/own-text.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { announcedAct, inherited, refuseDamaged, sessionOptions } from "../one-trial.ts"
import type { Place, Snapshot } from "../places/ground.ts"
import type { RunOptions, Spending } from "../run-options.ts"
import type { Tell } from "../trial/progress.ts"
import { runTrial, type TrialResult } from "../trial/run-trial.ts"
import { refuseWithinTrial } from "../within-trial.ts"
import { type Workspace, workFiles } from "../workspace.ts"
import type { World } from "../world.ts"
import { knownFailure } from "./known-failure.ts"
import { preparedImprovement } from "./prepared-improvement.ts"
import { takeImprovement } from "./take-improvement.ts"

/** What became of a prompt after a failure. */
export type Improvement =
  | {
      kind: "improved"
      after: number // the number of the trial that failed
      version: string
      recovery: string | null // the test that the failure has become; null where it was one already
    }
  | { kind: "refused"; after: number; reason: string }

export type ImproveOptions = RunOptions & {
  /** Who rewrites: `claude`, or a command; null for the prompt's own agent. */
  improver: string | null
}

/**
 * Has an agent rewrite the text of a prompt that has failed. It works in a copy, as the act of a
 * trial of its own, so nothing that it starts can announce or accept anything; of the copy, only
 * the text is taken over, with the failure as a recovery test.
 */
export async function improvePrompt(
  world: World,
  workspace: Workspace,
  failed: { before: WorkState; trial: AttestedTrial },
  options: ImproveOptions,
  spending: Spending,
): Promise<Improvement> {
  await refuseWithinTrial(world)
  const { trial } = failed
  const after = trial.announcement.sequence
  const refused = (reason: string): Improvement => ({ kind: "refused", after, reason })
  const state = await bringUpToDate(world, failed.before.path, failed.before)
  refuseDamaged(state)
  const { work } = state
  if (work.kind !== "prompt" || work.version !== trial.announcement.version) {
    return refused("the prompt was edited meanwhile")
  }
  await using folder = workspace.folder.part()
  const files = workFiles(workspace, state)
  const snapshot = await workspace.ground.snapshot(files, folder)
  const place = await snapshot.place(folder.fresh("improve"))
  const copy = promptIn(place, files.file)
  if (copy === null) return refused("its copy could not be read")
  const copied = { snapshot, place, file: files.file, copy }
  const result = await runImprover(world, state, trial, copied, options, spending)
  const why = whyRefused(result.trial)
  if (why !== null) return refused(why)
  const improved = promptIn(place, files.file)
  if (improved === null) return refused("what it has written is no prompt")
  const changed = result.changes.map(({ path }) => path).filter((path) => path !== files.file)
  const fault = improvementFault(copy, improved, changed)
  if (fault !== null) return refused(fault)
  const taken = await takeImprovement(world, state, improved, trial)
  return taken.ok ? { kind: "improved", after, ...taken.value } : refused(taken.failure)
}

type Copied = { snapshot: Snapshot; place: Place; file: string; copy: Prompt }

async function runImprover(
  world: World,
  state: WorkState,
  failed: AttestedTrial,
  { snapshot, place, file, copy }: Copied,
  options: ImproveOptions,
  spending: Spending,
): Promise<TrialResult> {
  const agent = options.improver ?? state.work.settings.agent
  const session = sessionOptions(state, options, spending)
  const told = improverPrompt(file, await knownFailure(world, failed), randomName())
  const before = readFileSync(join(place.path, file))
  const frontBytes = Buffer.byteLength(before.toString("utf8").slice(0, bodyStart(copy)))
  const act = announcedAct(agent, told, session)
  const planned = { tree: snapshot.tree, place: place.path, file, before, frontBytes, act }
  const own = { WORK_FILE: join(place.path, file), WORK_IMPROVE: `${failed.announcement.sequence}` }
  const { path, name } = state
  const result = await runTrial(
    world,
    {
      work: { path, name, kind: "improvement" },
      version: failed.announcement.version,
      prepared: preparedImprovement(improvementDefinition(planned), planned, snapshot, place),
      prompt: told,
      session,
      environment: { ...inherited(world.environment), PWD: place.path, ...own },
      timeoutSeconds: options.timeoutSeconds ?? undefined,
    },
    {
      tell: quietly(options.tell, failed.announcement.sequence),
      signal: options.signal,
      afterAct: async () => null,
      beforeEnd: async () => undefined,
    },
  )
  spending.add(result.costUsd)
  return result
}

/** Its numbers are of another row: what it asks is told as of the trial that failed. */
function quietly(tell: Tell, sequence: number): Tell {
  return (progress) => {
    if (progress.kind === "question") tell({ ...progress, sequence })
    if (progress.kind === "note") tell(progress)
  }
}

function whyRefused({ verdict, reasons, steps }: AttestedTrial): string | null {
  if (verdict === "PASSED") return null
  const failed = steps.find(({ finding }) => finding === "failed")
  if (failed?.id === "green-changed") return "it has left the text as it was"
  if (failed?.id === "only-the-body") {
    return "it has changed the front matter, where the checks stand: only the text may be rewritten"
  }
  return reasons.join("; ")
}

const mostBytes = 1024 * 1024

/** Without what this program has rendered into it. */
function promptIn(place: Place, file: string): Prompt | null {
  const bytes = readFileSync(join(place.path, file))
  const text = bytes.length > mostBytes ? null : decodeWork(bytes)
  const work = text?.ok === true ? readWork(text.value) : null
  if (work?.ok !== true || work.value.kind !== "prompt") return null
  const own = readPrompt(ownText(work.value))
  return own.ok ? own.value : null
}
