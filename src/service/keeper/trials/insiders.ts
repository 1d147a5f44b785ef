import type { TrialId } from "../../../execution/trial/announcement.ts"
import type { PeerProcess } from "../../../protocol/ipc.ts"
import type { LiveTable } from "../live-table.ts"
import type { Supervision } from "../supervision/supervision.ts"
import type { Processes } from "./trial-ports.ts"

/** Whether whoever asks is a step of a trial, or was started by one. */
export type Whereabouts =
  | { kind: "outside" }
  | { kind: "inside"; trial: TrialId }
  /** While a step of this trial runs, it cannot be told. */
  | { kind: "unknown"; trial: TrialId }

export function whereaboutsOf(
  peer: PeerProcess,
  live: Pick<LiveTable, "all">,
  processes: Processes,
): Whereabouts {
  if (peer.kind === "elsewhere") return { kind: "outside" }
  const steps = live.all().flatMap((supervision) => {
    const { trial, withinTrial } = supervision.record
    const id = trial?.id ?? withinTrial
    return id === undefined ? [] : [{ trial: id, pids: pidsOf(supervision) }]
  })
  const [first] = steps
  if (first === undefined) return { kind: "outside" }
  const unknown = { kind: "unknown", trial: first.trial } as const
  switch (peer.kind) {
    case "unknown":
      return unknown
    case "one-of": {
      const { pids } = peer
      const found = steps.find((step) => pids.some((pid) => step.pids.has(pid)))
      if (found !== undefined) {
        const isCertain = pids.length === 1
        return { kind: isCertain ? "inside" : "unknown", trial: found.trial }
      }
      // Who has connected may be gone, and have left the connection to another process.
      return pids.every((pid) => processes.isAlive(pid)) ? { kind: "outside" } : unknown
    }
    case "holder": {
      const { socket } = peer
      for (const { trial, pids } of steps) {
        const held = [...pids].map((pid) => processes.holdsSocket(pid, socket))
        if (held.includes(true)) return { kind: "inside", trial }
        if (held.includes(null)) return { kind: "unknown", trial }
      }
      return { kind: "outside" }
    }
  }
}

function pidsOf({ child }: Supervision): ReadonlySet<number> {
  return new Set(child?.tree.members().map(({ pid }) => pid))
}
