import type { ExecutionId } from "../../../execution/id.ts"
import {
  type ExecutionRecord,
  type RanAs,
  startOfTranscript,
  unknownResourceUse,
} from "../../../execution/record.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"

type Asked = Pick<
  ExecutionRecord,
  | "id"
  | "principal"
  | "spec"
  | "redacted"
  | "containment"
  | "createdAt"
  | "trial"
  | "withinTrial"
  | "placement"
> & {
  /** Null is the service's own user. */
  ranAs: RanAs | null
  state: { kind: "queued" | "starting" }
}

/** An execution of which nothing is known yet but what was asked. */
export function newRecord({ ranAs, ...asked }: Asked): ExecutionRecord {
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

/** Its id, and where the fleet has placed it: whoever has placed it has chosen both. */
export function placeOf(
  { placed }: ExecuteParams,
  newId: () => ExecutionId,
): Pick<ExecutionRecord, "id" | "placement"> {
  if (placed === undefined) return { id: newId() }
  const { execution_id: id, node, epoch, attempt } = placed
  return { id, placement: { node, epoch, attempt } }
}
