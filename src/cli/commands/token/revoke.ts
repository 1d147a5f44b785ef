import { ok } from "../../../lib/result.ts"
import { type Revocation, revokeTokens } from "../../../service/access/tokens/token-list.ts"
import type { Arguments, OptionTable } from "../../arguments.ts"
import { command } from "../../command.ts"
import { statePaths } from "../../connect/address.ts"
import type { Context } from "../../context.ts"
import { UsageFailure } from "../../failure.ts"
import { changeOwnTokens, tokenOptions } from "./own-tokens.ts"

const options = {
  all: { type: "boolean", about: "every token there is" },
  ...tokenOptions,
} as const satisfies OptionTable

export const tokenRevokeCommand = command({
  usage: ["token revoke [OPTIONS] ID|NAME…", "token revoke --all"],
  about: `\
A name stands for every token that carries it. A running service takes none of them from then on,
and ends the sessions that were opened with them. It cannot be undone.`,
  options,
  examples: [
    { about: "one token", command: "cc-executor token revoke q4mfa7kx2d" },
    { about: "all that carry a name", command: "cc-executor token revoke ci" },
  ],
  operands: { atLeast: 0, atMost: Number.POSITIVE_INFINITY, what: "The id or name of a token" },
  run: revoke,
})

async function revoke(context: Context, args: Arguments<typeof options>): Promise<number> {
  const { values, operands } = args
  const all = values.all === true
  if (all && operands.length > 0) {
    throw new UsageFailure("--all and the name of a token contradict each other: give one.")
  }
  if (!all && operands.length === 0) throw new UsageFailure("The id or name of a token is missing.")
  const paths = statePaths(context, values["state-dir"])
  const now = context.now()
  const names = all ? null : operands.map(idIfToken)
  return tell(
    context,
    await changeOwnTokens(paths, (tokens) => ok(revokeTokens(tokens, names, now))),
  )
}

/** Whoever gives the whole token, though others can see it here, wants it revoked all the more. */
function idIfToken(word: string): string {
  return /^cce_([a-z2-7]{10})(?:_|$)/.exec(word)?.[1] ?? word
}

async function tell(context: Context, revocation: Revocation): Promise<number> {
  const { revoked, alreadyRevoked, unknown } = revocation
  const lines = [
    ...revoked.map(({ id, name }) => `${id} (${name}) revoked`),
    ...alreadyRevoked.map(({ id, name, revokedAt }) => `${id} (${name}) was revoked ${revokedAt}`),
    ...unknown.map(
      (word) =>
        `cc-executor: There is no token ${word}. \`cc-executor token list\` shows all there are.`,
    ),
  ]
  for (const line of lines) await context.stderr.write(`${line}\n`)
  return unknown.length === 0 ? 0 : 1
}
