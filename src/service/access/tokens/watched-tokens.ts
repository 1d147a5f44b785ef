import { lstatSync, statSync } from "node:fs"
import { errnoOf } from "../../../lib/errno.ts"
import { ok, type Result } from "../../../lib/result.ts"
import type { TokenEntry } from "./token-entry.ts"
import type { TokenFileFailure } from "./token-file.ts"

export type KnownTokens = Result<ReadonlyMap<string, TokenEntry>, TokenFileFailure>

export type TokenSource = {
  path: string
  /** Whether a link is the file it leads to, or none. */
  followsLinks: boolean
  read(): Result<TokenEntry[], TokenFileFailure>
}

/**
 * What a file of tokens says at the moment: it is looked at before each use, and read when it is
 * another one. One that turned bad is told of once, until it is another trouble or was well in
 * between.
 */
export class WatchedTokens {
  readonly #source: TokenSource
  readonly #tellFailure: (failure: TokenFileFailure) => void
  /** Which file `#known` is from; null where the next look may find more in the same one. */
  #seen: string | null = null
  #lastReported: string | null = null
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #known: KnownTokens = ok(new Map())

  constructor(source: TokenSource, tellFailure: (failure: TokenFileFailure) => void) {
    this.#source = source
    this.#tellFailure = tellFailure
  }

  /** A look that is not older than this will do. */
  current(mostAgeMs: number): KnownTokens {
    const nowMs = performance.now()
    if (nowMs - this.#lookedAtMs < mostAgeMs) return this.#known
    this.#lookedAtMs = nowMs
    const seen = identityOf(this.#source)
    if (seen === this.#seen) return this.#known
    const read = this.#source.read()
    this.#known = read.ok ? ok(new Map(read.value.map((entry) => [entry.id, entry]))) : read
    // What kept it from being read may pass without a trace on the file: too many open ones.
    this.#seen = !read.ok && read.failure.kind === "unreadable" ? null : seen
    this.#tell(read.ok ? null : read.failure)
    return this.#known
  }

  #tell(failure: TokenFileFailure | null): void {
    const isNewFailure = failure !== null && failure.message !== this.#lastReported
    this.#lastReported = failure?.message ?? null
    if (isNewFailure) this.#tellFailure(failure)
  }
}

/** Changes whenever the file does: every write has its times, and a chmod its own. */
function identityOf({ path, followsLinks }: TokenSource): string {
  const look = followsLinks ? statSync : lstatSync
  try {
    const stat = look(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return "none"
    const { dev, ino, size, mtimeNs, ctimeNs } = stat
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ")
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return errno
  }
}
