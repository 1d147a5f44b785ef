import { lstatSync } from "node:fs"
import { errnoOf } from "../execution/errno.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import { isSecretOf, readToken } from "./token.ts"
import { type TokenEntry, tokenState } from "./token-entry.ts"
import { readTokenFile, type TokenFileFailure } from "./token-file.ts"
import { tokenFilePath } from "./token-file-path.ts"

/**
 * Why a token was not taken: for the audit. Whoever sent it must hear one and the same answer.
 * `unavailable`: the file with the tokens cannot be trusted, so nobody's is.
 */
export type TokenRefusal = "malformed" | "unknown" | "wrong" | "expired" | "revoked" | "unavailable"

/** For who is in already, a look so old is as good as a new one. */
const sessionLookMs = 10

type Known = Result<ReadonlyMap<string, TokenEntry>, TokenFileFailure>

/**
 * The tokens as a service checks them. The file is looked at before each use, so that a token
 * counts as soon as it is made, and no longer than until it is revoked. A file that turned bad lets
 * nobody in; that is told once, until it is another trouble or was well in between.
 */
export class TokenBook {
  readonly #path: string
  readonly #tellFailure: (failure: TokenFileFailure) => void
  /** Which file `#known` is from; null where the next look may find more in the same one. */
  #seen: string | null = null
  #told: string | null = null
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #known: Known = ok(new Map())

  constructor(stateDirectory: string, tellFailure: (failure: TokenFileFailure) => void) {
    this.#path = tokenFilePath(stateDirectory)
    this.#tellFailure = tellFailure
  }

  check(text: string, now: Date): Result<TokenEntry, TokenRefusal> {
    const known = this.#current()
    const token = readToken(text)
    if (token === null) return fail("malformed")
    const entry = (known.ok ? known.value.get(token.id) : undefined) ?? null
    // Before anything else, and in any case: the time it takes says nothing about what is known.
    const isRight = isSecretOf(token.secret, entry?.secretHash ?? null)
    if (!known.ok) return fail("unavailable")
    if (entry === null) return fail("unknown")
    if (!isRight) return fail("wrong")
    const state = tokenState(entry, now)
    return state === "good" ? ok(entry) : fail(state)
  }

  /** For a session that was let in by this token: asked for every piece of output. */
  isStillGood(id: string, now: Date): boolean {
    const known = this.#current(sessionLookMs)
    const entry = known.ok ? known.value.get(id) : undefined
    return entry !== undefined && tokenState(entry, now) === "good"
  }

  /** Whether there is any token that would be taken. */
  hasUsable(now: Date): boolean {
    const known = this.#current()
    return known.ok && known.value.values().some((entry) => tokenState(entry, now) === "good")
  }

  /** Whether the file can be trusted; that there is none is no trouble. */
  isReadable(): boolean {
    return this.#current(sessionLookMs).ok
  }

  #current(mostAgeMs = 0): Known {
    const nowMs = performance.now()
    if (nowMs - this.#lookedAtMs < mostAgeMs) return this.#known
    this.#lookedAtMs = nowMs
    const seen = identityOf(this.#path)
    if (seen === this.#seen) return this.#known
    const read = readTokenFile(this.#path)
    this.#known = read.ok ? ok(new Map(read.value.map((entry) => [entry.id, entry]))) : read
    // What kept it from being read may pass without a trace on the file: too many open ones.
    this.#seen = !read.ok && read.failure.kind === "unreadable" ? null : seen
    this.#tell(read.ok ? null : read.failure)
    return this.#known
  }

  #tell(failure: TokenFileFailure | null): void {
    const isNews = failure !== null && failure.message !== this.#told
    this.#told = failure?.message ?? null
    if (isNews) this.#tellFailure(failure)
  }
}

/** Changes whenever the file does: every write makes a new one, and a chmod has its own time. */
function identityOf(path: string): string {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return "none"
    const { dev, ino, size, mtimeNs, ctimeNs } = stat
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ")
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return errno
  }
}
