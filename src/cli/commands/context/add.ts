import { resolve } from "node:path"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { remoteAddress } from "../../connect/address.ts"
import { fileToken } from "../../connect/bearer-token.ts"
import {
  changeContexts,
  checkContextName,
  type SavedContext,
} from "../../connect/saved-contexts.ts"
import { CommandFailure, UsageFailure } from "../../failure.ts"
import { readUrl } from "../../mcp-install/connection.ts"

export const contextAddCommand = command({
  usage: ["context add [OPTIONS] --url URL NAME"],
  about: `\
Saves an address and the names of files, never what is in them, in contexts.json of the user's
configuration directory. --context NAME then uses it for one command, $CC_EXECUTOR_CONTEXT for a
shell, and \`context use NAME\` from then on.`,
  options: {
    url: option("URL", "the remote service"),
    "token-file": option("FILE", "its token"),
    "ca-file": option("FILE", "authorities to trust for wss://"),
    "client-cert": option("FILE", "the client certificate"),
    "client-key": option("FILE", "its key"),
    replace: flag("change a context of this name"),
  },
  examples: {
    "save how to reach the team's service":
      "cc-executor context add team --url wss://build.example.net:8003 --token-file ~/.team-token",
  },
  operands: { atLeast: 1, atMost: 1, what: "The name" },
  async run(context, { values, operands: [name = ""] }) {
    checkContextName(name)
    if (values.url === undefined) throw new UsageFailure("--url is missing: where is the service?")
    const path = (file: string | undefined) => file && resolve(context.cwd, file)
    const files = {
      token_file: path(values["token-file"]),
      ca_file: path(values["ca-file"]),
      client_cert: path(values["client-cert"]),
      client_key: path(values["client-key"]),
    }
    readUrl(values.url) // a password in it would be saved
    remoteAddress({}, values) // whatever is wrong with the files is told now
    if (files.token_file !== undefined) fileToken("--token-file", files.token_file).read()
    const saved: SavedContext = { url: values.url, ...files }
    changeContexts(context, ({ current, contexts }) => {
      if (values.replace !== true && Object.hasOwn(contexts, name)) {
        throw new CommandFailure(`There is a context "${name}" already. --replace changes it.`)
      }
      return { current, contexts: { ...contexts, [name]: saved } }
    })
    const always = `cc-executor context use ${name}`
    await context.stderr.write(`Use it with --context ${name}, or from now on with: ${always}\n`)
    return 0
  },
})
