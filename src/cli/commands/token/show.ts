import { readMadeToken } from "../../../service/access/tokens/made-token.ts"
import { TokenBook, type TokenRefusal } from "../../../service/access/tokens/token-book.ts"
import type { StatePaths } from "../../../service/storage/state-paths.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { localState } from "../../connect/address.ts"
import { CommandFailure } from "../../failure.ts"
import { succeeded, tokenOptions, tokenUse, tokenView } from "./own-tokens.ts"

export const tokenShowCommand = command({
  usage: ["token show [OPTIONS]"],
  about: `\
Prints the token that a service with --make-token, such as one in a container, has made for itself:
alone on standard output, and only while it is valid. No other token can be shown, because only
hashes of them are stored.`,
  options: { json: flag("one JSON document, with the token in it"), ...tokenOptions },
  examples: {
    "of the service in a container": "docker exec cc_executor_mcp cc-executor token show",
    "for the next commands":
      "export CC_EXECUTOR_TOKEN=$(docker exec cc_executor_mcp cc-executor token show)",
  },
  async run(context, { values }) {
    const { paths } = localState(context, values["state-dir"])
    const now = context.now()
    const text = madeTokenIn(paths)
    const troubles: string[] = []
    const book = new TokenBook(paths.directory, ({ message }) => troubles.push(message))
    const checked = book.check(text, now)
    if (!checked.ok) {
      throw new CommandFailure(troubles[0] ?? notValid(paths, checked.failure))
    }
    const view = tokenView(checked.value, now)
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify({ token: text, ...view }, null, 2)}\n`)
      return 0
    }
    const { id, name, scopes, created_at } = view
    const what = `Token ${id} for ${name} (${scopes.join(", ")}), made ${created_at}.`
    await context.stderr.write(`${what}\n${tokenUse(id)}\n`)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})

function madeTokenIn(paths: StatePaths): string {
  const text = succeeded(readMadeToken(paths.directory))
  if (text !== null) return text
  throw new CommandFailure(
    `No service has made a token in ${paths.directory}. It does so when it starts with ` +
      "--make-token, listens beyond loopback and has no other token. Create one with " +
      "`cc-executor token create --name NAME`, or name another --state-dir.",
  )
}

function notValid({ madeToken }: StatePaths, refusal: TokenRefusal): string {
  const why = refusal === "revoked" ? "was revoked" : "is not among the tokens of this service"
  return (
    `The token in ${madeToken} ${why}, so it is not accepted. Create one with ` +
    "`cc-executor token create --name NAME`; or restart the service: with --make-token, it makes " +
    "another if it has none."
  )
}
