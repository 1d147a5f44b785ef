import { newToken, tokenText } from "../../../service/access/tokens/token.ts"
import { command } from "../../command.ts"

export const tokenNewCommand = command({
  usage: ["token new"],
  about: `\
Prints a token and stores it nowhere. It becomes valid when you put it into the file that a
service was given with --accept-token-file, such as a container secret. The service notices changes
to that file at once: a token that is removed stops working. If you can write to the state
directory, prefer \`token create\`, which stores only a hash.`,
  options: {},
  examples: { "a secret for a container": "cc-executor token new > token && chmod 600 token" },
  async run(context) {
    const token = newToken((bytes) => crypto.getRandomValues(bytes))
    await context.stdout.write(`${tokenText(token)}\n`)
    return 0
  },
})
