import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs"
import { basename, dirname, extname, join } from "node:path"
import { type GraduationJudgement, judgeGraduation } from "../ledger/graduation.ts"
import { ledgerPathOf } from "../ledger/ledger-text.ts"
import { wilsonInterval } from "../ledger/wilson.ts"
import { lockWork } from "./files/work-lock.ts"
import { bringUpToDate, lookAt, type WorkState } from "./files/work-state.ts"
import { writeText } from "./files/write-text.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

export type Graduation = {
  readonly judgement: GraduationJudgement
  readonly state: WorkState
  /** Where the prompt is now, and its copy with the final metrics; null where it stays. */
  readonly moved: { prompt: string; archive: string } | null
}

/** Moves a prompt that has proved itself; else says what is missing. */
export async function graduate(
  world: World,
  path: string,
  { asSkill }: { asSkill: boolean },
): Promise<Graduation> {
  await bringUpToDate(world, path)
  const state = await lookAt(world, path)
  const { work } = state
  if (work.kind !== "prompt")
    throw new WorkFailure(`${path} is no prompt, and only prompts graduate.`)
  const judgement = judgeGraduation(work, state.summary)
  if (!judgement.graduates) return { judgement, state, moved: null }
  const target = targetOf(state, asSkill)
  return lockWork(state.path, async () => {
    const archive = archiveOf(state, world.now())
    mkdirSync(archive, { recursive: true })
    copyFileSync(state.path, join(archive, basename(state.path)))
    copyFileSync(state.ledgerPath, join(archive, basename(state.ledgerPath)))
    const metrics = `${JSON.stringify(metricsOf(state, judgement, world.now()), null, 2)}\n`
    writeText(join(archive, "metrics.json"), Buffer.from(metrics))
    mkdirSync(dirname(target), { recursive: true })
    // Where this is interrupted, the same command finds both names, and finishes.
    renameSync(state.ledgerPath, ledgerPathOf(target))
    renameSync(state.path, target)
    return { judgement, state, moved: { prompt: target, archive } }
  })
}

function targetOf({ path, work, name }: WorkState, asSkill: boolean): string {
  const directory = dirname(path)
  if (!asSkill && basename(directory) === "core") {
    throw new WorkFailure(`${path} has graduated already: it is in ${directory}.`)
  }
  if (asSkill && work.settings.name === null) {
    throw new WorkFailure(`${path} has no \`name:\` in its front matter, which a skill needs.`)
  }
  const target = asSkill
    ? join(directory, ".claude", "skills", name, "SKILL.md")
    : join(directory, "core", basename(path))
  if (existsSync(target)) {
    throw new WorkFailure(`${target} exists already: remove it, or give this prompt another name.`)
  }
  return target
}

function archiveOf({ path }: WorkState, now: Date): string {
  const name = basename(path, extname(path))
  return join(dirname(path), "archive", `${name}-${now.toISOString().slice(0, 10)}`)
}

function metricsOf({ name, path, summary }: WorkState, judgement: GraduationJudgement, now: Date) {
  const { success, failure } = judgement.counts
  return {
    name,
    graduated_at: now.toISOString(),
    from: path,
    ...judgement.counts,
    ratio: `${success}:${failure}`,
    needed: judgement.needed,
    interval_95: wilsonInterval(success, failure),
    recovery_tests_green: judgement.recoveryGreen,
    trials: summary.trials.length,
    versions: summary.versions.length,
    last_trial: summary.lastAt,
    cost_usd: summary.costUsd,
    cost_per_success_usd: summary.costPerSuccessUsd,
  }
}
