import { createHash } from "node:crypto"
import type { TrialDefinition, TrialStep } from "../../execution/trial/announcement.ts"
import type { AnnouncedAct } from "../plan/definition.ts"

export type PlannedImprovement = {
  tree: string
  place: string
  file: string // relative to the place
  before: Uint8Array
  frontBytes: number // of its front matter
  act: AnnouncedAct
}

/** An improvement as a trial: the text is the old one, an agent acts, and only the body is new. */
export function improvementDefinition(planned: PlannedImprovement): TrialDefinition {
  const { tree, place: cwd, act } = planned
  const run = changedScript(planned)
  const check = "the text has changed"
  const steps: TrialStep[] = [
    { id: "red-changed", role: "red", red: "base", cwd, run, check },
    { id: "act", role: "act", cwd, ...act },
    {
      id: "only-the-body",
      role: "guard",
      cwd,
      run: frontMatterScript(planned),
      check: "the front matter is unchanged",
    },
    { id: "green-changed", role: "green", cwd, run, check },
  ]
  return { tree, steps, protect: [planned.file], needs: [] }
}

function changedScript({ file, before }: PlannedImprovement): string {
  return `[ "$(sha256sum < ${quoted(`./${file}`)})" != "${sha256(before)}  -" ]`
}

function frontMatterScript({ file, before, frontBytes }: PlannedImprovement): string {
  const digest = sha256(before.subarray(0, frontBytes))
  const message = `Refused: only the text below the front matter of ${file} may be changed.`
  return [
    `file=${quoted(`./${file}`)}`,
    `fail() { echo ${quoted(message)}; exit 1; }`,
    '[ -f "$file" ] && [ ! -L "$file" ] || fail',
    `[ "$(head -c ${frontBytes} "$file" | sha256sum)" = "${digest}  -" ] || fail`,
  ].join("\n")
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
