import { statSync } from "node:fs"
import { errnoOf } from "../../../lib/errno.ts"
import type { Log } from "../../../lib/log.ts"
import type { Result } from "../../../lib/result.ts"
import { readTlsMaterial, type TlsFiles, type TlsMaterial } from "./tls-material.ts"

export type TlsRotationOptions = {
  files: TlsFiles
  /** What is in use. */
  material: TlsMaterial
  use(material: TlsMaterial): void
  log: Log
  lookEveryMs?: number
}

const defaultLookMs = 1_000
const dayMs = 24 * 3_600_000
const warnBeforeMs = 14 * dayMs

/** Looks for new certificate files until disposed, and warns of an expiry that comes near. */
export class TlsRotation implements Disposable {
  readonly #options: TlsRotationOptions
  readonly #timer: ReturnType<typeof setInterval>
  #material: TlsMaterial
  /** How the files looked when they were last read. */
  #read: string
  #seen: string
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: TlsRotationOptions) {
    this.#options = options
    this.#material = options.material
    this.#read = this.#seen = stampOf(options.files)
    this.#reportExpiry(options.material)
    this.#timer = setInterval(() => this.#look(), options.lookEveryMs ?? defaultLookMs)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /**
   * Nobody replaces two files in one step: they are read when they have stood still for a while. A
   * pair that does not fit is told once; the next change of a file brings the next attempt.
   */
  #look(): void {
    this.#warnOfExpiry()
    const stamp = stampOf(this.#options.files)
    const stoodStill = stamp === this.#seen
    this.#seen = stamp
    if (!stoodStill || stamp === this.#read) return
    this.#read = stamp
    this.#take(readTlsMaterial(this.#options.files))
  }

  #take(read: Result<TlsMaterial, string>): void {
    const { log } = this.#options
    if (!read.ok) {
      return log.error({ why: read.failure }, "tls certificate not replaced: keeping the old one")
    }
    if (isSame(read.value, this.#material)) return
    try {
      this.#options.use(read.value)
    } catch (error) {
      return log.error({ err: error }, "tls certificate not replaced: keeping the old one")
    }
    this.#material = read.value
    log.info(factsOf(read.value), "tls certificate replaced")
    this.#reportExpiry(read.value)
  }

  #reportExpiry(material: TlsMaterial): void {
    for (const why of material.warnings) this.#options.log.warn({ why }, "tls key is not secret")
    this.#warnedAtMs = Number.NEGATIVE_INFINITY
    this.#warnOfExpiry()
  }

  /** Once a day. */
  #warnOfExpiry(): void {
    const nowMs = Date.now()
    const leftMs = this.#material.expiresAt.getTime() - nowMs
    if (leftMs > warnBeforeMs || nowMs - this.#warnedAtMs < dayMs) return
    this.#warnedAtMs = nowMs
    const facts = { ...factsOf(this.#material), leftDays: Math.floor(leftMs / dayMs) }
    if (leftMs > 0) this.#options.log.warn(facts, "tls certificate expires soon")
    else this.#options.log.error(facts, "tls certificate has expired: clients will refuse it")
  }
}

function factsOf({ fingerprint, expiresAt }: TlsMaterial): Record<string, unknown> {
  return { fingerprint, expiresAt: expiresAt.toISOString() }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa
}

/** Follows links: that is how many renewal tools put new files in place. */
function stampOf({ cert, key, clientCa }: TlsFiles): string {
  const paths = clientCa === null ? [cert, key] : [cert, key, clientCa]
  return paths.map(stampOfFile).join(" ")
}

function stampOfFile(path: string): string {
  try {
    const { dev, ino, mtimeMs, size } = statSync(path)
    return `${dev}:${ino}:${mtimeMs}:${size}`
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return errno // what is wrong with it is said when it is read
  }
}
