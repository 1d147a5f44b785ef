import { ok } from "../../../lib/result.ts"
import { type Revocation, revokeTokens } from "../../../service/access/tokens/token-list.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { ownStatePaths } from "../../connect/address.ts"
import type { Context } from "../../context.ts"
import { UsageFailure } from "../../failure.ts"
import { changeOwnTokens, tokenOptions } from "./own-tokens.ts"

export const tokenRevokeCommand = command({
  usage: ["token revoke [OPTIONS] ID|NAME…", "token revoke --all"],
  about: `\
A name stands for every token that has it. A running service refuses these tokens at once and
closes the sessions that were opened with them. This cannot be undone.`,
  options: { all: flag("every token"), ...tokenOptions },
  examples: {
    "one token": "cc-executor token revoke q4mfa7kx2d",
    "all tokens with this name": "cc-executor token revoke ci",
  },
  operands: { atLeast: 0, what: "The token's id or name" },
  async run(context, { values, operands }) {
    const all = values.all === true
    if (all && operands.length > 0) {
      throw new UsageFailure("Use either --all or a token's id or name, not both.")
    }
    if (!all && operands.length === 0) throw new UsageFailure("The token's id or name is missing.")
    const paths = ownStatePaths(context, values["state-dir"])
    const now = context.now()
    const names = all ? null : operands.map(idIfToken)
    return tell(
      context,
      await changeOwnTokens(paths, (tokens) => ok(revokeTokens(tokens, names, now))),
    )
  },
})

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
      (word) => `cc-executor: Unknown token: ${word}. See \`cc-executor token list\`.`,
    ),
  ]
  for (const line of lines) await context.stderr.write(`${line}\n`)
  return unknown.length === 0 ? 0 : 1
}
