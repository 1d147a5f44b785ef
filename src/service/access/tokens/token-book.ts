import { fail, ok, type Result } from "../../../lib/result.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import { type AcceptedTokens, acceptedTokenSource } from "./accepted-tokens.ts"
import { isSecretOf, readToken } from "./token.ts"
import { type TokenEntry, type TokenState, tokenState } from "./token-entry.ts"
import { readTokenFile, type TokenFileFailure } from "./token-file.ts"
import { WatchedTokens } from "./watched-tokens.ts"

/**
 * Why a token was not taken: for the audit. Whoever sent it must hear one and the same answer.
 * `unavailable`: it is not known, and a file with tokens cannot be trusted, so none in it is.
 */
export type TokenRefusal = "malformed" | "unknown" | "wrong" | "expired" | "revoked" | "unavailable"

/** For who is in already, a look so old is as good as a new one. */
const sessionLookMs = 10

/**
 * The tokens as a service checks them: those of `token create`, and those of a file it was given.
 * Both are looked at before each use, so that a token counts as soon as it is there, and no longer
 * than until it is revoked or taken out. A file that turned bad lets nobody in.
 */
export class TokenBook {
  readonly #watched: readonly WatchedTokens[]

  constructor(
    stateDirectory: string,
    tellFailure: (failure: TokenFileFailure) => void,
    accepted: AcceptedTokens | null = null,
  ) {
    const path = statePathsIn(stateDirectory).tokens
    const made = { path, followsLinks: false, read: () => readTokenFile(path) }
    const sources = accepted === null ? [made] : [made, acceptedTokenSource(accepted)]
    this.#watched = sources.map((source) => new WatchedTokens(source, tellFailure))
  }

  check(text: string, now: Date): Result<TokenEntry, TokenRefusal> {
    const token = readToken(text)
    const { entry, isComplete } = this.#find(token?.id ?? null)
    if (token === null) return fail("malformed")
    // Before anything else, and in any case: the time it takes says nothing about what is known.
    const isRight = isSecretOf(token.secret, entry?.secretHash ?? null)
    if (entry === null) return fail(isComplete ? "unknown" : "unavailable")
    if (!isRight) return fail("wrong")
    const state = this.#stateOf(entry, now)
    return state === "good" ? ok(entry) : fail(state)
  }

  /** Null for one that is not known, or no longer good. */
  entryOf(id: string, now: Date): TokenEntry | null {
    const { entry } = this.#find(id)
    return entry !== null && this.#stateOf(entry, now) === "good" ? entry : null
  }

  /** For a session that was let in by this token: asked for every piece of output. */
  isStillGood(id: string, now: Date): boolean {
    const { entry } = this.#find(id, sessionLookMs)
    return entry !== null && this.#stateOf(entry, now, sessionLookMs) === "good"
  }

  hasUsable(now: Date): boolean {
    return this.#watched.some((tokens) => {
      const known = tokens.current(0)
      return known.ok && known.value.values().some((entry) => tokenState(entry, now) === "good")
    })
  }

  /** Whether the files can be trusted; that there is none is no trouble. */
  isReadable(): boolean {
    return this.#find(null, sessionLookMs).isComplete
  }

  /** A page's session ends with the token that it stands for. */
  #stateOf(entry: TokenEntry, now: Date, mostAgeMs = 0): TokenState {
    const own = tokenState(entry, now)
    if (own !== "good" || entry.sessionOf === undefined) return own
    const { entry: token } = this.#find(entry.sessionOf, mostAgeMs)
    return token === null ? "revoked" : tokenState(token, now)
  }

  /** Every file is looked at, also where the first has it: what is wrong with one must be told. */
  #find(id: string | null, mostAgeMs = 0): { entry: TokenEntry | null; isComplete: boolean } {
    const known = this.#watched.map((tokens) => tokens.current(mostAgeMs))
    const entries = known.flatMap((read) =>
      read.ok && id !== null ? (read.value.get(id) ?? []) : [],
    )
    return { entry: entries[0] ?? null, isComplete: known.every((read) => read.ok) }
  }
}
