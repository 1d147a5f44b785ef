import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { handoverFormat, UpgradeCheck } from "../../../protocol/handover.ts"

/** What a program is started with to be asked whether it could take over. */
const upgradeCheckArgument = "__upgrade-check"

const limitMs = 15_000

/** Runs a program to its end, for its exit code and what it wrote; null when it takes too long. */
export type RunProgram = (
  argv: readonly string[],
  limitMs: number,
) => Promise<{ exitCode: number | null; text: string; said: string } | { failure: string } | null>

/** Whether a program can take this service over; else why not. */
export async function checkProgram(
  program: readonly string[],
  own: Omit<UpgradeCheck, "handover">,
  run: RunProgram,
): Promise<Result<UpgradeCheck, string>> {
  const name = program.join(" ")
  const answer = await run([...program, upgradeCheckArgument], limitMs)
  if (answer === null) return fail(`${name} did not answer within ${limitMs / 1000} s.`)
  if ("failure" in answer) return fail(`${name} cannot be started: ${answer.failure}.`)
  const told = UpgradeCheck.safeParse(tryParseJson(answer.text))
  if (answer.exitCode !== 0 || !told.success) {
    const words = answer.said.trim().split("\n").at(-1)?.slice(0, 300) ?? ""
    const said = words === "" ? "" : ` It printed: ${words}`
    return fail(`${name} is not a cc-executor that can take over from ${own.version}.${said}`)
  }
  const { version, handover, state, journal } = told.data
  const it = `${name} (version ${version})`
  if (handover !== handoverFormat) {
    const forms = `it understands handover format ${handover}, but this one is ${handoverFormat}`
    return fail(`${it} cannot take over from ${own.version}: ${forms}. Stop and start instead.`)
  }
  if (state < own.state || journal < own.journal) {
    return fail(`${it} is older than the state directory, which was written by ${own.version}.`)
  }
  return ok(told.data)
}
