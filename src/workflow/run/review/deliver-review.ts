import { existsSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ExecutionView } from "../../../protocol/execution-view.ts"
import { type ReviewName, reviewFileName, reviewId } from "../../documents/review/review-name.ts"
import { withExecutions } from "../../render/review/executions-region.ts"
import { lockWork } from "../files/work-lock.ts"
import { writeText } from "../files/write-text.ts"
import { WorkFailure } from "../work-failure.ts"

export type ReviewPaths = { feedback: string; fixes: string }

export function deliveryPaths(out: string, name: ReviewName): ReviewPaths {
  return {
    feedback: join(out, reviewFileName(name, "review_feedback")),
    fixes: join(out, reviewFileName(name, "fixes")),
  }
}

/** A round is answered once; what came of it would else be of another list. */
export function refuseAnswered({ fixes }: ReviewPaths, name: ReviewName): void {
  if (!existsSync(fixes)) return
  throw new WorkFailure(
    `The review ${reviewId(name)} has been delivered already: ${fixes}. The next round has a ` +
      `request of its own: cc-executor review request ${name.component} FILE…`,
  )
}

/** Writes both files, the list of fixes last: without it, the round is still open. */
export async function writeDelivery(
  paths: ReviewPaths,
  name: ReviewName,
  { feedback, fixes }: { feedback: string; fixes: string },
  executions: readonly ExecutionView[],
  { isAnsweredAgain = false } = {},
): Promise<void> {
  mkdirSync(dirname(paths.fixes), { recursive: true })
  await lockWork(paths.fixes, async () => {
    if (!isAnsweredAgain) refuseAnswered(paths, name)
    const rows = executions.map(rowOf)
    writeText(paths.feedback, Buffer.from(withExecutions(feedback, rows)))
    writeText(paths.fixes, Buffer.from(fixes.endsWith("\n") ? fixes : `${fixes}\n`))
  })
}

function rowOf({ execution_id: id, command, argv, ending, hashes, created_at }: ExecutionView) {
  const exit = ending?.exit_code
  return {
    id,
    command: command ?? shellLineIn(argv) ?? argv.join(" "),
    exit: exit === null || exit === undefined ? (ending?.outcome ?? "running") : `exit ${exit}`,
    transcript: hashes?.chain ?? "",
    startedAt: created_at,
  }
}

/** Of `bash -e -c LINE`, as usage checks are run. */
function shellLineIn(argv: readonly string[]): string | null {
  const [shell, ...rest] = argv
  const isLine = shell === "bash" && rest.at(-2) === "-c"
  return isLine ? (rest.at(-1) ?? null) : null
}
