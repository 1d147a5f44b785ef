import { z } from "zod"
import { onOneLine } from "../../lib/harmless-text.ts"
import { parseJson } from "../../lib/parse-json.ts"
import { type Failure, type Reason, WireError } from "../../protocol/failure.ts"
import { asSentence, CommandFailure, contextNote } from "../failure.ts"
import { cut } from "../terminal/table.ts"
import type { RemoteAddress } from "./address.ts"
import { askRemote, redirectText } from "./ask.ts"

const askTimeoutMs = 2_000

/**
 * What to say when a remote service cannot be used. A socket that was not opened says little; a
 * plain request to the same path, with the same token, is answered in words.
 */
export async function remoteFailure(
  address: RemoteAddress,
  unopened: { why: string; refused: Failure | null },
): Promise<CommandFailure> {
  const where = `${address.url}${contextNote(address.context)}`
  const answer = await askRemote(address, new URL(address.url).pathname, askTimeoutMs)
  if (answer.kind === "no-tls") return new CommandFailure(`${where}: ${answer.why}`)
  const answered = answer.kind === "answer" ? refusalOf(answer.status, answer.body) : null
  const refused = unopened.refused ?? answered
  if (refused === null) {
    if (answer.kind === "redirect") {
      return new CommandFailure(
        `${where}: ${redirectText(answer)}. Use that address if you trust it.`,
      )
    }
    const why = answer.kind === "nobody" ? answer.why : unopened.why
    return new CommandFailure(
      `No service answers at ${where}: ${why}. ` +
        "Check the address, and that `cc-executor serve` is running there.",
    )
  }
  // How often somebody may knock is a limit of its own: the second answer can be another one.
  const words = answered?.reason === refused.reason ? answered.message : refused.message
  const advice = adviceOn(refused.reason, address)
  return new CommandFailure(`${where}: ${asSentence(words)}${advice === "" ? "" : ` ${advice}`}`)
}

const reasons: ReadonlyMap<number, Reason> = new Map([
  [401, "UNAUTHORIZED"],
  [403, "FORBIDDEN"],
  [429, "RATE_LIMITED"],
])

/** The refusal in an HTTP answer; null where it is none of those that are about who is asking. */
export function refusalOf(status: number, body: string): Failure | null {
  const reason = reasons.get(status)
  if (reason === undefined) return null
  const words = wordsIn(body)
  const message = `The service refused (${status})${words === null ? "" : `: ${words}`}`
  return { reason, message }
}

const mostWords = 500

/** A stranger's words: on one line, without anything that would steer a terminal. */
function wordsIn(body: string): string | null {
  const json = parseJson(body)
  const said = z.object({ error: WireError }).safeParse(json.ok ? json.value : null)
  return said.success ? cut(onOneLine(said.data.error.message), mostWords) : null
}

function adviceOn(reason: Reason, { token }: RemoteAddress): string {
  if (reason === "UNAUTHORIZED" && token === null) {
    return "Set CC_EXECUTOR_TOKEN, or use --token-file."
  }
  if (reason === "UNAUTHORIZED") {
    return `The token came from ${token?.from}.`
  }
  return reason === "RATE_LIMITED" ? "Wait a while, then try again." : ""
}
