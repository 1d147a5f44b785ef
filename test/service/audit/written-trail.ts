import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Attempt, AuditNote } from "../../../src/protocol/audit-entry.ts"
import { AuditLog, type AuditLogSettings } from "../../../src/service/audit/audit-log.ts"
import { ManualClock } from "../../support/manual-clock.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

/** An audit trail in a directory of its own, and its one writer. */
export class WrittenTrail implements Disposable {
  readonly directory: string
  readonly clock = new ManualClock()
  readonly log = new QuietLog()
  readonly #owned = new DisposableStack()
  readonly #settings: AuditLogSettings
  audit: AuditLog

  constructor(settings: Partial<AuditLogSettings> = {}) {
    const folder = this.#owned.use(temporaryFolder())
    this.directory = join(folder.path, "audit")
    const { directory } = this
    this.#settings = { directory, fileBytes: 1_048_576, files: 8, ...settings }
    this.audit = this.#open()
  }

  /** As a service that is killed and started again would: nothing is closed in an orderly way. */
  reopen(): AuditLog {
    this.audit = this.#open()
    return this.audit
  }

  note(count: number): void {
    for (let nth = 1; nth <= count; nth += 1) this.audit.note(attempt({ method: `method-${nth}` }))
  }

  /** Paths, oldest first. */
  get files(): string[] {
    return readdirSync(this.directory)
      .toSorted()
      .map((name) => join(this.directory, name))
  }

  /** Every line as it was parsed, oldest first. */
  get lines(): Array<Record<string, unknown>> {
    return this.files.flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line): Record<string, unknown> => JSON.parse(line)),
    )
  }

  get events(): unknown[] {
    return this.lines.map(({ event }) => event)
  }

  [Symbol.dispose](): void {
    this.audit[Symbol.dispose]()
    this.#owned.dispose()
  }

  #open(): AuditLog {
    return new AuditLog(this.#settings, this.clock, this.log)
  }
}

export function attempt(facts: Partial<Attempt> = {}): AuditNote {
  return {
    event: "attempt",
    principal: "alice",
    address: "192.0.2.7",
    via: "websocket",
    method: "execute",
    outcome: "allowed",
    ...facts,
  }
}
