import { resolve } from "node:path"
import { errnoOf } from "../../../lib/errno.ts"
import { readGivenFile } from "../../../lib/read-given-file.ts"
import type { Values } from "../../arguments.ts"
import type { Context } from "../../context.ts"
import { UsageFailure } from "../../failure.ts"
import { countOption } from "../../time.ts"
import { readInput } from "../read-input.ts"
import type { claudeOptions } from "../start-request.ts"
import { prefixOf, promptLines } from "./prompt-lines.ts"
import type { EachOptions } from "./run-each.ts"

const mostBytes = 1_048_576
const usualSideBySide = 4
const mostSideBySide = 64

/** These are about one session, or about another way to start it. */
const alone = ["detach", "json", "resume", "fork", "take-over", "name", "idempotency-key"] as const

/** What `claude --each FILE` is to do; `--worktree` is what all worktrees' names begin with. */
export async function eachOptions(
  context: Context,
  values: Values<typeof claudeOptions>,
  file: string,
  words: readonly string[],
): Promise<Omit<EachOptions, "request">> {
  const other = alone.find((name) => values[name] !== undefined && values[name] !== false)
  if (other !== undefined) throw new UsageFailure(`--${other} cannot be used with --each.`)
  if (words.length > 0)
    throw new UsageFailure("With --each, the prompts are the lines of the file.")
  const label = values.worktree ?? prefixOf(file)
  const text = file === "-" ? await readInput(context) : readText(resolve(context.cwd, file))
  const lines = promptLines(text, label)
  const [none] = lines
  if (none === undefined) throw new UsageFailure(`${file} has no line that says what to do.`)
  const jobs = values.jobs === undefined ? usualSideBySide : countOption("--jobs", values.jobs)
  if (jobs < 1 || jobs > mostSideBySide) {
    throw new UsageFailure(`--jobs must be from 1 to ${mostSideBySide}.`)
  }
  return { lines, label, sideBySide: jobs, isAgain: values.again === true }
}

function readText(path: string): string {
  try {
    return readGivenFile(path, mostBytes)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new UsageFailure(`--each ${path} cannot be read (${errno}).`)
  }
}
