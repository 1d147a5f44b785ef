import { type ExecutionId, executionIdFrom } from "../../src/execution/id.ts"
import {
  type ExecutionRecord,
  startOfTranscript,
  type TranscriptFacts,
  unknownResourceUse,
} from "../../src/execution/record.ts"
import { type ExecutionSpec, heldByNothing } from "../../src/execution/spec.ts"

export const sampleSpec: ExecutionSpec = {
  command: null,
  argv: ["true"],
  shell: false,
  cwd: "/",
  envNames: [],
  stdin: "closed",
  terminal: null,
  wallTimeoutMs: null,
  idleTimeoutMs: null,
  budget: { bytes: 1_048_576, lines: null, policy: "drop-oldest" },
  limits: { memoryBytes: null, cpus: null, pids: null },
  limitsHeldBy: heldByNothing,
  outputLimitBytes: null,
  onDisconnect: "keep",
  labels: {},
}

/** An id that a number tells apart. */
export function sampleId(number: number): ExecutionId {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(12, number)
  return executionIdFrom(bytes)
}

export function sampleRecord(change: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    id: sampleId(1),
    principal: "local",
    spec: sampleSpec,
    containment: "best-effort",
    state: { kind: "running", pid: 4242 },
    leader: { pid: 4242, startTicks: 1 },
    createdAt: "2026-01-01T00:00:00.000Z",
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: null,
    runningMs: 0,
    pausedMs: 0,
    blocked: false,
    stdinBytes: 0,
    transcript: transcriptOf(0),
    redacted: null,
    hashes: null,
    use: unknownResourceUse,
    stopped: [],
    killedAfterExit: [],
    survivors: [],
    ...change,
  }
}

/** What is known of a transcript of so many bytes. */
export function transcriptOf(bytes: number): TranscriptFacts {
  const none = { bytes: 0, lines: 0 }
  return {
    start: startOfTranscript,
    end: { segment: 0, offset: bytes, sequence: bytes, lines: 0 },
    stdout: { bytes, lines: 0 },
    stderr: none,
    dropped: none,
  }
}
