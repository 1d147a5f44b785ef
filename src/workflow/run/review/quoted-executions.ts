import { CallError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/connect.ts"
import type { ExecutionView } from "../../../protocol/execution-view.ts"
import { type Quote, quotesIn } from "../../documents/review/quotes.ts"
import type { World } from "../world.ts"

export type QuoteCheck = {
  readonly executions: readonly ExecutionView[]
  /** What the feedback says of them and the record does not, in words. */
  readonly faults: readonly string[]
}

/** Where executions must have run to say something about what is reviewed, and which must have. */
export type QuoteRules = { directories: readonly string[]; usage: readonly string[] }

export async function checkQuotes(
  { client }: World,
  feedback: string,
  { directories, usage }: QuoteRules,
): Promise<QuoteCheck> {
  const faults: string[] = []
  const executions = new Map<string, ExecutionView>()
  for (const quote of quotesIn(feedback)) {
    const { id, line } = quote
    const found = executions.get(id) ?? (await lookUp(client, id))
    if (found === null) {
      faults.push(`feedback, line ${line}: there is no execution ${id}`)
      continue
    }
    executions.set(id, found)
    faults.push(...(await faultsOf(client, quote, found, directories)))
  }
  const ran = [...executions.values()]
  const missing = usage.filter((check) => !ran.some((view) => isRunOf(view, check)))
  faults.push(
    ...missing.map((check) => {
      return `feedback: it names no execution that has run the usage check \`${check}\``
    }),
  )
  return { executions: ran, faults }
}

async function lookUp(client: Client, execution_id: string): Promise<ExecutionView | null> {
  try {
    return await client.call("status", { execution_id })
  } catch (error) {
    if (error instanceof CallError && error.failure.reason === "PROCESS_NOT_FOUND") return null
    throw error
  }
}

async function faultsOf(
  client: Client,
  { id, line, exits, log }: Quote,
  view: ExecutionView,
  directories: readonly string[],
): Promise<string[]> {
  const at = `feedback, line ${line}: the execution ${id}`
  if (view.ending === null) return [`${at} has not ended`]
  const isThere = directories.some((one) => view.cwd === one || view.cwd.startsWith(`${one}/`))
  if (!isThere) return [`${at} ran in ${view.cwd}, and not in what is reviewed`]
  const { exit_code: exit, outcome } = view.ending
  const faults = exits
    .filter((said) => said !== exit)
    .map((said) => `${at} did not exit with ${said}: ${exit === null ? outcome : `exit ${exit}`}`)
  if (log.length === 0) return faults
  const printed = await linesPrinted(client, id)
  if (printed === null) return [...faults, `${at} has no transcript any more: leave out its log`]
  const invented = log.find((text) => !printed.has(text))
  if (invented === undefined) return faults
  return [...faults, `${at} never printed the line ${JSON.stringify(invented)}`]
}

const pieceBytes = 1024 * 1024
const mostBytes = 64 * 1024 * 1024

async function linesPrinted(
  client: Client,
  execution_id: string,
): Promise<ReadonlySet<string> | null> {
  const lines = new Set<string>()
  const rests = new Map<string, string>()
  let bytes = 0
  try {
    for (let from = "start"; bytes < mostBytes; ) {
      const asked = { execution_id, from, limit_bytes: pieceBytes }
      const { chunks, next, more } = await client.call("transcript.read", asked)
      for (const { data, type: stream } of chunks) {
        bytes += data.length
        const parts = ((rests.get(stream) ?? "") + data).split(/\r?\n/)
        rests.set(stream, parts.pop() ?? "")
        for (const part of parts) lines.add(part.trim())
      }
      if (more !== true) break
      from = next
    }
  } catch (error) {
    if (error instanceof CallError) return null
    throw error
  }
  for (const rest of rests.values()) lines.add(rest.trim())
  return lines
}

/** Whether a check is what ran, in a shell or without one. */
function isRunOf({ command, argv }: ExecutionView, check: string): boolean {
  const wanted = plain(check)
  return [command ?? "", argv.join(" "), argv.at(-1) ?? ""].some((text) => plain(text) === wanted)
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, " ")
}
