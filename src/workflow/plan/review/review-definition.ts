import type { TrialDefinition, TrialStep } from "../../../execution/trial/announcement.ts"
import type { AnnouncedAct } from "../definition.ts"
import { shellQuoted } from "../protection.ts"

export type PlannedReview = {
  place: string
  tree: string
  setup: readonly string[]
  act: AnnouncedAct
  /** Fails where anything but the two files has changed. */
  unchanged: string
  /** Fails where the two files are not there, or not in their form. */
  delivered: string
}

/** A review as a trial: nothing is delivered before, the reviewer, and then it is. */
export function reviewDefinition(planned: PlannedReview): TrialDefinition {
  const { place: cwd, tree, setup, act, unchanged, delivered } = planned
  const guard = { role: "guard", cwd, run: unchanged, check: "nothing else has changed" } as const
  const steps: TrialStep[] = [
    ...setup.map(
      (run, index): TrialStep => ({ id: `setup-${index + 1}`, role: "setup", cwd, run }),
    ),
    { id: "unchanged-before", ...guard },
    { id: "red-1", role: "red", red: "base", cwd, run: delivered },
    { id: "act", role: "act", cwd, ...act },
    { id: "unchanged", ...guard },
    { id: "green-1", role: "green", cwd, run: delivered },
  ]
  return { tree, steps, protect: [], needs: [] }
}

/** Fails, and says which, where git finds files that are not those of an index of ours. */
export function unchangedInGit(
  { gitDirectory, index }: { gitDirectory: string; index: string },
  except: readonly string[],
  leftByPrograms: ReadonlySet<string>,
): string {
  const left = [...leftByPrograms].filter((name) => name !== ".git")
  const pathspecs = [
    ...except.map((path) => `:(exclude,literal)${path}`),
    ...left.map((name) => `:(exclude,glob)**/${name}/**`),
  ]
  return [
    `export GIT_DIR=${shellQuoted(gitDirectory)} GIT_WORK_TREE="$PWD"`,
    `export GIT_INDEX_FILE=${shellQuoted(index)} GIT_OPTIONAL_LOCKS=0`,
    "changed=$(git -c core.fsmonitor=false ls-files --modified --deleted --others \\",
    `  --exclude-standard -- . ${pathspecs.map(shellQuoted).join(" ")})`,
    'if [ -n "$changed" ]; then',
    '  echo "Changed, besides the two files of the review:"',
    '  echo "$changed" | sort -u',
    "  exit 1",
    "fi",
  ].join("\n")
}
