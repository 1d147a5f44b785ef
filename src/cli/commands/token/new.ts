import { newToken, tokenText } from "../../../service/access/tokens/token.ts"
import type { OptionTable } from "../../arguments.ts"
import { command } from "../../command.ts"

const options = {} as const satisfies OptionTable

export const tokenNewCommand = command({
  usage: ["token new"],
  about: `\
The token is printed and kept nowhere: no service takes it until it stands in the file that the
service was given with --accept-token-file, as a secret of a container does. That service heeds
changes of the file at once: whoever is taken out of it is out. Where there is a state directory to
keep it in, \`token create\` is the better way: it keeps only a hash.`,
  options,
  examples: [
    {
      about: "a secret for a container",
      command: "cc-executor token new > token && chmod 600 token",
    },
  ],
  operands: { atLeast: 0, atMost: 0, what: "" },
  async run(context) {
    const token = newToken((bytes) => crypto.getRandomValues(bytes))
    await context.stdout.write(`${tokenText(token)}\n`)
    return 0
  },
})
