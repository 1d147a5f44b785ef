import type { ExecutionRecord } from "../../../execution/record.ts"
import type { AuditNote } from "../../../protocol/audit-entry.ts"
import { couldNotStart } from "../../../protocol/audit-message.ts"

type Started = Extract<AuditNote, { event: "service-started" }>["what"]

/** None for an execution that has not ended. */
export function endNotes({ id: execution_id, principal, state }: ExecutionRecord): AuditNote[] {
  if (state.kind !== "ended") return []
  const { outcome: own } = state
  const what = own.kind === "failed-to-start" ? { ...own, message: couldNotStart(own.errno) } : own
  return [{ event: "execution-ended", principal, execution_id, outcome: "happened", what }]
}

export function startNote(
  what: Omit<Started, "listen" | "pid" | "uid">,
  listens: { hosts: readonly string[]; port: number | null },
): AuditNote {
  const { hosts, port } = listens
  const listen = ["unix", ...(port === null ? [] : hosts.map((host) => `${host} port ${port}`))]
  const own = { pid: process.pid, uid: process.getuid?.() ?? 0 }
  return { event: "service-started", outcome: "happened", what: { ...what, ...own, listen } }
}
