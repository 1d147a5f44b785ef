import { executionIdFrom } from "../../../../src/execution/id.ts"
import type { SignedReceipt } from "../../../../src/execution/receipt.ts"
import {
  type ExecutionRecord,
  startOfTranscript,
  unknownResourceUse,
} from "../../../../src/execution/record.ts"
import type { ExecutionSpec } from "../../../../src/execution/spec.ts"
import { type ExecutionEvent, transition } from "../../../../src/execution/state.ts"
import type { IdempotencyEntry, Journal } from "../../../../src/service/keeper/ports.ts"

export const sampleTime = new Date("2026-11-16T08:00:00.000Z")

/** A record as it is when it is made, before any event. */
export function queued(change: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: executionIdFrom(crypto.getRandomValues(new Uint8Array(16))),
    principal: "alice",
    spec: sampleSpec,
    containment: "cgroup",
    state: { kind: "queued" },
    leader: null,
    createdAt: sampleTime.toISOString(),
    startedAt: null,
    endedAt: null,
    runningMs: 0,
    pausedMs: 0,
    blocked: false,
    stdinBytes: 0,
    transcript: {
      start: startOfTranscript,
      end: startOfTranscript,
      stdout: { bytes: 0, lines: 0 },
      stderr: { bytes: 0, lines: 0 },
      dropped: { bytes: 0, lines: 0 },
    },
    redacted: null,
    hashes: null,
    use: unknownResourceUse,
    stopped: [],
    killedAfterExit: [],
    survivors: [],
    ...change,
  }
}

export function labelled(labels: Record<string, string>): ExecutionRecord {
  return queued({ spec: { ...sampleSpec, labels } })
}

/** The record after an event, as the keeper would make it. */
export function after(
  record: ExecutionRecord,
  event: ExecutionEvent,
  endedAt = sampleTime,
): ExecutionRecord {
  const state = transition(record.state, event)
  return { ...record, state, endedAt: state.kind === "ended" ? endedAt.toISOString() : null }
}

export const admitted: ExecutionEvent = { kind: "admitted" }
export const started: ExecutionEvent = { kind: "started", pid: 4711 }
export const exited: ExecutionEvent = {
  kind: "leader-exited",
  exit: { kind: "exited", exitCode: 0 },
}
export const emptied: ExecutionEvent = { kind: "emptied" }

/** Not signed by anyone: for tests in which only the bytes matter. */
export const someReceipt: SignedReceipt = {
  payloadType: "application/vnd.cc-executor.receipt+json",
  payload: "eyJ2ZXJzaW9uIjogMX0=",
  signatures: [{ keyid: "0123456789abcdef", sig: "c2lnbmF0dXJl" }],
}

/** Journals a whole life: one call of `create`, three of `append`, one of `end`. */
export function live(
  journal: Journal,
  record = queued(),
  endedAt = sampleTime,
  idempotency: IdempotencyEntry | null = null,
): ExecutionRecord {
  journal.create(record, idempotency)
  let now = record
  for (const event of [admitted, started, exited]) {
    now = after(now, event)
    journal.append(event, now)
  }
  now = after(now, emptied, endedAt)
  journal.end([emptied], now, someReceipt)
  return now
}

const sampleSpec: ExecutionSpec = {
  command: "make test",
  argv: ["make", "test"],
  shell: false,
  cwd: "/home/alice",
  envNames: ["CI"],
  stdin: "closed",
  terminal: null,
  wallTimeoutMs: 60_000,
  idleTimeoutMs: null,
  budget: { bytes: 1_048_576, lines: null, policy: "drop-oldest" },
  limits: { memoryBytes: null, cpus: null, pids: null },
  limitsHeldBy: { memoryBytes: null, cpus: null, pids: null },
  outputLimitBytes: null,
  onDisconnect: "keep",
  labels: {},
}
