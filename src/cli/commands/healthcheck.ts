import { option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import {
  askRemote,
  type RemoteAnswer,
  redirectText,
  unreadinessIn,
  unreadinessText,
} from "../connect/ask.ts"
import { askLocal, foreignAnswerMs } from "../connect/local-listener.ts"
import { refusalOf } from "../connect/remote-failure.ts"
import { asSentence, CommandFailure } from "../failure.ts"
import { durationOption } from "../time.ts"

const defaultAnswerMs = 3_000

export const healthcheckCommand = command({
  usage: ["healthcheck [OPTIONS]"],
  about: `\
Exits with 0 if the service is healthy, otherwise with 1, saying what is wrong and what to do. A
service that is merely full counts as healthy. Starts nothing. Made for containers.`,
  options: {
    timeout: option("TIME", "how long an answer may take (default 3s; 1s of another user)"),
    ...addressOptions,
  },
  examples: {
    "the service of this user or container": "cc-executor healthcheck",
    "another service": "cc-executor healthcheck --url http://127.0.0.1:8003",
  },
  async run(context, { values }) {
    const address = addressOf(context, values)
    const isForeign = address.kind === "local" && !address.isOwn
    const patienceMs = isForeign ? foreignAnswerMs : defaultAnswerMs
    const timeoutMs =
      values.timeout === undefined ? patienceMs : durationOption("--timeout", values.timeout)
    const answer =
      address.kind === "remote"
        ? await askRemote(address, "/readyz", timeoutMs)
        : await askLocal(address.paths, "/readyz", timeoutMs)
    const where = address.kind === "remote" ? address.url : address.paths.socket
    const problem = problemOf(answer)
    if (problem !== null) throw new CommandFailure(`${where}: ${problem}`)
    return 0
  },
})

function problemOf(answer: RemoteAnswer): string | null {
  switch (answer.kind) {
    case "answer": {
      if (answer.status === 200) return null
      const refused = refusalOf(answer.status, answer.body)
      if (refused !== null) return asSentence(refused.message)
      const reasons = unreadinessIn(answer.body)
      if (reasons === null)
        return `something else than cc-executor answers there (${answer.status}).`
      const wrong = reasons.filter(({ passes }) => !passes)
      return wrong.length === 0 ? null : wrong.map(unreadinessText).join(" ")
    }
    case "redirect":
      return `${redirectText(answer)}. Use that address if you trust it.`
    case "nobody":
      return `no service answers (${answer.why}). Start one with \`cc-executor serve\`.`
    case "no-tls":
      return answer.why
    case "silent":
      return `no answer within ${answer.afterMs} ms.`
  }
}
