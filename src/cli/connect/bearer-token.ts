import { readFileSync } from "node:fs"
import { clientVariables } from "../../config/client-variables.ts"
import { looksLikeToken, readToken } from "../../service/access/tokens/token.ts"
import type { Environment } from "../context.ts"
import { CommandFailure, orFail } from "../failure.ts"

/**
 * What a remote service is shown. It comes from a variable or a file, never from the arguments:
 * those are for every user of the machine to see.
 */
export type BearerToken = {
  /** Where it is from, for those who must put it right. */
  readonly from: string
  /** Again for every connection: a file may have got a newer one. */
  read(): string
}

/** Null where there is none. The option comes before the variables, the token before its file. */
export function bearerToken(env: Environment, tokenFile: string | undefined): BearerToken | null {
  if (tokenFile !== undefined) return fileToken("--token-file", tokenFile)
  const token = env[clientVariables.token] ?? ""
  if (token !== "") return variableToken(token)
  const path = env[clientVariables.tokenFile] ?? ""
  return path === "" ? null : fileToken(clientVariables.tokenFile, path)
}

function variableToken(text: string): BearerToken {
  const from = clientVariables.token
  return { from, read: () => checked(from, text) }
}

export function fileToken(source: string, path: string): BearerToken {
  const from = `${source} ${path}`
  let last: string | null = null
  return {
    from,
    read() {
      try {
        last = checked(from, textOf(from, path))
        return last
      } catch (error) {
        // While it is replaced, or where it was a pipe, there may be nothing to read a second time.
        if (last !== null && error instanceof CommandFailure) return last
        throw error
      }
    },
  }
}

function textOf(from: string, path: string): string {
  const say = (errno: string) => `${from}: the file cannot be read (${errno}).`
  return orFail(() => readFileSync(path, "utf8"), say)
}

const mostCharacters = 4096

/** Nothing of it is repeated in a message: messages are logged, and shown to others. */
function checked(from: string, given: string): string {
  const text = given.trim()
  const isOneWord = /^[\x21-\x7e]+$/.test(text) && text.length <= mostCharacters
  if (!isOneWord) {
    throw new CommandFailure(`${from}: this is not a token. A token is a single word.`)
  }
  if (looksLikeToken(text) && readToken(text) === null) {
    throw new CommandFailure(
      `${from}: the token is incomplete or mistyped. Copy it again, or create ` +
        "another with `cc-executor token create` where the service runs.",
    )
  }
  return text
}
