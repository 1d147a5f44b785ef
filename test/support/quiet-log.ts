import type { Log } from "../../src/lib/log.ts"

type Entry = { level: string; facts: Record<string, unknown>; event: string }

/** A log that only remembers. */
export class QuietLog implements Log {
  readonly entries: Entry[] = []

  get events(): string[] {
    return this.entries.map(({ event }) => event)
  }

  debug(facts: Record<string, unknown>, event: string): void {
    this.entries.push({ level: "debug", facts, event })
  }

  info(facts: Record<string, unknown>, event: string): void {
    this.entries.push({ level: "info", facts, event })
  }

  warn(facts: Record<string, unknown>, event: string): void {
    this.entries.push({ level: "warn", facts, event })
  }

  error(facts: Record<string, unknown>, event: string): void {
    this.entries.push({ level: "error", facts, event })
  }
}
