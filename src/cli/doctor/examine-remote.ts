import { onOneLine } from "../../lib/harmless-text.ts"
import { addressOf, type RemoteAddress } from "../connect/address.ts"
import { askRemote, healthIn, redirectText, unreadinessIn } from "../connect/ask.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { examineEnforcement, notForThisCaller } from "./examine-enforcement.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const answerMs = 3_000
const name = "remote"

/** The service that $CC_EXECUTOR_URL names, where it names one. */
export async function examineRemote(context: Context): Promise<Finding[]> {
  try {
    const address = addressOf(context, {})
    if (address.kind === "local") return []
    const { url } = address
    const answer = await askRemote(address, "/readyz", answerMs)
    switch (answer.kind) {
      case "answer":
        if (answer.status !== 200) return notReady(url, answer.status, answer.body)
        return [
          ok(name, `${url} answers in ${answer.ms.toFixed(1)} ms`),
          ...(await examineHealth(address)),
        ]
      case "redirect":
        return [fail(name, `${url}: ${redirectText(answer)}`, "check $CC_EXECUTOR_URL")]
      case "no-tls":
        return [fail(name, `${url}: ${answer.why}`, "`cc-executor help run` lists the options")]
      case "nobody":
        return [fail(name, `${url} cannot be reached (${answer.why})`, "check $CC_EXECUTOR_URL")]
      case "silent":
        return [fail(name, `${url} does not answer within ${answer.afterMs} ms`, "see its log")]
    }
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    return [fail(name, error.message, "fix the variable")]
  }
}

async function examineHealth(address: RemoteAddress): Promise<Finding[]> {
  const answer = await askRemote(address, "/health", answerMs)
  const report = answer.kind === "answer" ? healthIn(answer.body) : null
  const whose = `the service at ${address.url}`
  return report === null ? [notForThisCaller(whose)] : examineEnforcement(whose, report)
}

function notReady(url: string, status: number, body: string): Finding[] {
  const reasons = unreadinessIn(body)
  if (reasons === null) {
    return [
      fail(name, `${url} answers, but is not cc-executor (${status})`, "check $CC_EXECUTOR_URL"),
    ]
  }
  return reasons.map((reason) => {
    const text = onOneLine(`${url} is not ready: ${reason.name}: ${reason.message}`)
    return warn(name, text, onOneLine(reason.action))
  })
}
