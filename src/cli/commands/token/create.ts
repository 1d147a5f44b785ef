import { inOrder, Scope } from "../../../execution/scope.ts"
import { tokenText } from "../../../service/access/tokens/token.ts"
import { TokenName } from "../../../service/access/tokens/token-entry.ts"
import { makeToken, type Wanted, withToken } from "../../../service/access/tokens/token-list.ts"
import { type Arguments, flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { ownStatePaths } from "../../connect/address.ts"
import { asSentence, UsageFailure } from "../../failure.ts"
import { durationOption } from "../../time.ts"
import { changeOwnTokens, type TokenView, tokenOptions, tokenUse, tokenView } from "./own-tokens.ts"

const defaultScopes = "execute,control,read"
const defaultTtl = "90d"
const longestTtl = "36500d"

const options = {
  name: option("NAME", "the name its bearer is known by; need not be unique"),
  scope: option(
    "LIST",
    `what it allows: any of ${Scope.options.join(",")} (default ${defaultScopes})`,
  ),
  ttl: option("TIME", `how long it is valid, or none (default ${defaultTtl})`),
  json: flag("one JSON document, with the token in it"),
  ...tokenOptions,
}

type CreateValues = Arguments<typeof options>["values"]

export const tokenCreateCommand = command({
  usage: ["token create --name NAME [OPTIONS]"],
  about: `\
Prints the token once, alone on standard output; only its hash is stored. A running service
accepts it at once. To replace a token, create another with the same name, then revoke the first.

Scopes: execute starts commands, control controls them, read shows them and their output, each for
executions that the same name has started; metrics reads /metrics, for Prometheus; admin allows
all of that for everyone's executions.`,
  options,
  examples: {
    "for a build machine, in a file that only you can read":
      "(umask 077 && cc-executor token create --name ci > ci.token)",
    "read-only, for one day": "cc-executor token create --name guest --scope read --ttl 1d",
  },
  async run(context, { values }) {
    const wanted = wantedOf(values)
    const paths = ownStatePaths(context, values["state-dir"])
    const now = context.now()
    const { token, entry } = makeToken(wanted, now, (bytes) => crypto.getRandomValues(bytes))
    await changeOwnTokens(paths, (tokens) => withToken(tokens, entry, now))
    const text = tokenText(token)
    const view = tokenView(entry, now)
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify({ token: text, ...view }, null, 2)}\n`)
      return 0
    }
    await context.stderr.write(`${explanation(view)}\n`)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})

function wantedOf(values: CreateValues): Wanted {
  if (values.name === undefined) throw new UsageFailure("--name is missing: give the token a name.")
  const name = TokenName.safeParse(values.name)
  if (!name.success) {
    const why = name.error.issues.map(({ message }) => message).join("; ")
    throw new UsageFailure(asSentence(`--name: "${values.name}" is not valid: ${why}`))
  }
  return {
    name: name.data,
    scopes: scopesOf(values.scope ?? defaultScopes),
    ttlMs: ttlOf(values.ttl ?? defaultTtl),
  }
}

function scopesOf(text: string): Scope[] {
  const scopes = text.split(",").map((word) => {
    const scope = Scope.safeParse(word.trim())
    if (scope.success) return scope.data
    const allowed = Scope.options.join(", ")
    throw new UsageFailure(`--scope: "${word}" is not a scope: use some of ${allowed}.`)
  })
  return inOrder(scopes)
}

function ttlOf(text: string): number | null {
  if (text === "none") return null
  const ttlMs = durationOption("--ttl", text)
  if (ttlMs <= durationOption("--ttl", longestTtl)) return ttlMs
  throw new UsageFailure(`--ttl: "${text}" is too long: use at most ${longestTtl}, or none.`)
}

function explanation({ id, name, scopes, expires_at }: TokenView): string {
  const until = expires_at === null ? "forever" : `until ${expires_at}`
  return `\
Token ${id} for ${name} (${scopes.join(", ")}), valid ${until}. It is not shown again.
${tokenUse(id)}`
}
