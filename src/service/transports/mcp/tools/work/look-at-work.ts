import { dirname, resolve } from "node:path"
import { z } from "zod"
import { type ExecutionRecord, hasEnded } from "../../../../../execution/record.ts"
import { tryParseJson } from "../../../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../../../lib/result.ts"
import { type Failure, failure } from "../../../../../protocol/failure.ts"
import { newestOutput } from "../../output/newest-output.ts"
import type { McpScope } from "../../ports.ts"
import type { Call } from "../call.ts"
import { StartArguments, startExecution } from "../start.ts"
import { waitForEnd } from "../wait-for-end.ts"
import { ToldVerdict } from "./work-view.ts"

export const workPath = z
  .string()
  .min(1)
  .max(4096)
  .describe("the Markdown file with the prompt or the tasks, on the service's machine; absolute")

/** A work is asked about by this program as a command: with the rights that its caller has. */
export type OwnCommand = {
  path: string
  words: readonly string[]
  labels?: Record<string, string> | undefined
  key: string | undefined
  stdin?: "pipe"
}

/** The file, as the client's own directory makes it absolute. */
export function absolutePath(path: string, { defaults }: Call): Result<string, Failure> {
  if (path.startsWith("/")) return ok(path)
  if (defaults.cwd !== undefined) return ok(resolve(defaults.cwd, path))
  const message = `${JSON.stringify(path)} is relative to no known directory: give it in full.`
  return fail(failure("INVALID_PARAMS", message))
}

export async function startOwn(
  scope: McpScope,
  call: Call,
  { path, words, labels, key, stdin }: OwnCommand,
) {
  const { self, stateDir, runAs } = scope.ownProgram
  if (runAs !== null) {
    const message =
      `Commands run as ${runAs} here, who may not use this service: works are run by its own ` +
      "user, with `cc-executor tasks run` or `cc-executor prompt run` on its machine."
    return fail(failure("SECURITY_DENIED", message))
  }
  const argv = [...self, ...words, `--state-dir=${stateDir}`, "--", path]
  const args = StartArguments.parse({
    argv,
    cwd: dirname(path),
    labels: { ...labels, work: path.slice(-256) },
    idempotency_key: key,
    ...(stdin === undefined ? {} : { stdin }),
  })
  return startExecution(args, scope, { ...call, idempotencyKey: undefined })
}

export type Looked = { record: ExecutionRecord; told: ToldVerdict | null }

/** Has counts and ticks checked, and waits so long; what is told is null if that takes longer. */
export async function lookAtWork(
  scope: McpScope,
  call: Call,
  path: string,
  waitMs: number,
  { rerun = false, key }: { rerun?: boolean; key?: string | undefined } = {},
): Promise<Result<Looked, Failure>> {
  const words = ["verify", "--json", ...(rerun ? ["--rerun"] : [])]
  const started = await startOwn(scope, call, { path, words, key })
  if (!started.ok) return started
  const waited = await waitForEnd(scope, call, started.value.record.id, waitMs)
  if (!waited.ok) return waited
  const record = waited.value
  return hasEnded(record) ? toldBy(scope, record) : ok({ record, told: null })
}

const mostBytes = 4 * 1024 * 1024

async function toldBy(scope: McpScope, record: ExecutionRecord): Promise<Result<Looked, Failure>> {
  const wanted = { lines: null, mostBytes }
  const read = await newestOutput(scope, record, { ...wanted, stream: "stdout" })
  if (!read.ok) return read
  const told = ToldVerdict.safeParse(tryParseJson(read.value.text))
  if (told.success) return ok({ record, told: told.data })
  const errors = await newestOutput(scope, record, { ...wanted, mostBytes: 2000, stream: "stderr" })
  if (!errors.ok) return errors
  const why = errors.value.text.trim().replace(/^cc-executor: /, "")
  const message = why === "" ? `Nothing was said of it: see \`output\` of ${record.id}.` : why
  return fail(failure("INVALID_PARAMS", message))
}
