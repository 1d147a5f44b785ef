import type { StreamName } from "../../src/execution/record.ts"
import type { StateKind } from "../../src/execution/state.ts"
import type { ExecutionView } from "../../src/protocol/execution-view.ts"
import { type Completed, completedOf } from "../../src/protocol/notifications.ts"
import { WriterOffsets } from "../../src/service/keeper/supervision/writer-offsets.ts"

export type ScriptedRecord =
  | { kind: "output"; stream: StreamName; bytes: Uint8Array; sequence: number }
  | { kind: "gap"; bytes: number; lines: number }

/** An execution that does what a test says. Its cursors are indices into its list of records. */
export class ScriptedExecution {
  readonly id: string
  readonly key: string | null
  readonly labels: Record<string, string>
  readonly pid: number
  readonly createdAt: Date
  readonly records: ScriptedRecord[] = []
  input: Uint8Array = new Uint8Array()
  inputIsClosed = false
  inputOffsets = new WriterOffsets()
  state: StateKind = "running"
  exitCode: number | null = null
  isExpired = false
  /** What drivers who acknowledge are asked for; null when the child waits for nobody. */
  ackAfterBytes: number | null = null
  #outputBytes = 0

  constructor(number: number, key: string | null, labels: Record<string, string>) {
    this.id = `${"a".repeat(25)}${"bcdefghijklmnopqrstuvwxyz".charAt(number - 1)}`
    this.pid = 1000 + number
    this.key = key
    this.labels = labels
    this.createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, number))
  }

  append(stream: StreamName, bytes: Uint8Array): void {
    this.records.push({ kind: "output", stream, bytes, sequence: this.#outputBytes })
    this.#outputBytes += bytes.length
  }

  has(labels: Record<string, string>): boolean {
    return Object.entries(labels).every(([name, value]) => this.labels[name] === value)
  }

  indexOf(cursor: string): number {
    if (cursor === "start") return 0
    return cursor === "tail" ? this.records.length : Number(cursor.replace("at-", ""))
  }

  lifeSign(): { status: string; pid: number; pgid: number } {
    return { status: this.state, pid: this.pid, pgid: this.pid }
  }

  view(): ExecutionView {
    const ended = this.state === "ended"
    const bytes = { stdout: this.#outputBytes, stderr: 0 }
    return {
      execution_id: this.id,
      state: this.state,
      principal: "test",
      command: "scripted",
      argv: ["scripted"],
      shell: false,
      cwd: "/",
      labels: this.labels,
      stdin: "pipe",
      terminal: null,
      timeout: null,
      idle_timeout: null,
      budget: { bytes: 1024, lines: null, policy: "drop-oldest" },
      limits: { memory: null, cpu: null, pids: null, output: null },
      limits_held_by: { memory: null, cpu: null, pids: null },
      containment: "best-effort",
      pid: this.state === "queued" ? null : this.pid,
      pgid: this.state === "queued" ? null : this.pid,
      created_at: this.createdAt.toISOString(),
      started_at: this.createdAt.toISOString(),
      ended_at: ended ? new Date().toISOString() : null,
      execution_time: 1,
      blocked: false,
      stdin_bytes: this.input.length,
      bytes,
      lines: { stdout: 0, stderr: 0 },
      dropped: { bytes: 0, lines: 0 },
      ending: ended ? this.#ending() : null,
      redacted: null,
      hashes: null,
      stopped: ended && this.exitCode === null ? [{ pid: this.pid, signal: "SIGTERM", ms: 3 }] : [],
      killed_after_exit: [],
      survivors: [],
    }
  }

  completed(): Completed | null {
    return completedOf(this.view())
  }

  #ending(): NonNullable<ExecutionView["ending"]> {
    const stopped = this.exitCode === null
    return {
      outcome: stopped ? "stopped" : "exited",
      exit_code: this.exitCode,
      signal: stopped ? "SIGTERM" : null,
      cause: stopped ? "client" : null,
      reason: null,
    }
  }
}
