import type { ExecutionId } from "../../../execution/id.ts"
import {
  type ContainmentMode,
  type ExecutionRecord,
  type RanAs,
  type Redacted,
  startOfTranscript,
  unknownResourceUse,
} from "../../../execution/record.ts"
import type { ExecutionSpec } from "../../../execution/spec.ts"

/** An execution of which nothing is known yet but what was asked. */
export function newRecord({
  ranAs,
  ...asked
}: {
  id: ExecutionId
  principal: string
  spec: ExecutionSpec
  /** Null is the service's own user. */
  ranAs: RanAs | null
  redacted: Redacted | null
  containment: ContainmentMode
  state: { kind: "queued" | "starting" }
  createdAt: string
}): ExecutionRecord {
  const none = { bytes: 0, lines: 0 }
  return {
    ...asked,
    ...(ranAs === null ? {} : { ranAs: { uid: ranAs.uid, gid: ranAs.gid, user: ranAs.user } }),
    leader: null,
    startedAt: null,
    endedAt: null,
    runningMs: 0,
    pausedMs: 0,
    blocked: false,
    stdinBytes: 0,
    transcript: {
      start: startOfTranscript,
      end: startOfTranscript,
      stdout: none,
      stderr: none,
      dropped: none,
    },
    hashes: null,
    use: unknownResourceUse,
    stopped: [],
    killedAfterExit: [],
    survivors: [],
  }
}
