import { fail, ok, type Result } from "../../lib/result.ts"
import { noResumeState } from "../ports.ts"
import { LegacySession } from "./legacy-session.ts"
import type { ClientsSettings } from "./listening.ts"
import { decodeSessionId, encodeSessionId } from "./session-id.ts"

export type NoSession = "unknown" | "full"

const mostEnded = 10_000

/**
 * The sessions that have a connection to the target. This is a cache: any other session is opened
 * again from its id.
 */
export class LegacySessions {
  readonly #settings: ClientsSettings
  readonly #open = new Map<string, LegacySession>()
  /** Sessions that are being opened, and have no id yet. */
  readonly #opening = new Set<LegacySession>()
  readonly #ended = new Set<string>()

  constructor(settings: ClientsSettings) {
    this.#settings = settings
  }

  find(id: string): Result<LegacySession, NoSession> {
    if (this.#ended.has(id)) return fail("unknown")
    const open = this.#open.get(id)
    if (open !== undefined) return ok(open)
    const resumeState = decodeSessionId(id)
    if (resumeState === null) return fail("unknown")
    if (!this.#hasRoom()) return fail("full")
    const session = new LegacySession(this.#settings, resumeState)
    this.#open.set(id, session)
    return ok(session)
  }

  /** For an `initialize`. The session has no id before `settle`. */
  create(): Result<LegacySession, NoSession> {
    if (!this.#hasRoom()) return fail("full")
    const session = new LegacySession(this.#settings, noResumeState)
    this.#opening.add(session)
    return ok(session)
  }

  /** The session's id; null when the target refused, or `initialize` was too large for an id. */
  settle(session: LegacySession): string | null {
    this.#opening.delete(session)
    const random = crypto.getRandomValues(new Uint8Array(16))
    const id = encodeSessionId(session.resumeState, random)
    if (id === null) void session.close("ended")
    else this.#open.set(id, session)
    return id
  }

  async end(id: string): Promise<boolean> {
    const found = this.find(id)
    if (!found.ok) return false
    this.#open.delete(id)
    this.#ended.add(id)
    const [oldest] = this.#ended
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest)
    await found.value.close("ended")
    return true
  }

  async close(): Promise<void> {
    const all = [...this.#open.values(), ...this.#opening]
    await Promise.all(all.map((session) => session.close("suspended")))
  }

  #hasRoom(): boolean {
    const isFull = () => this.#open.size + this.#opening.size >= this.#settings.connections
    if (isFull()) this.suspendIdle(0)
    return !isFull()
  }

  /** Closes the connections of sessions that nobody has used for so long. */
  suspendIdle(idleMs = this.#settings.idleMs): void {
    const beforeMs = performance.now() - idleMs
    for (const [id, session] of this.#open) {
      const sinceMs = session.idleSinceMs
      if (sinceMs === null || sinceMs > beforeMs) continue
      this.#open.delete(id)
      void session.close("suspended")
    }
  }
}
