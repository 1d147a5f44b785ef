import type { PolicyKind } from "../../../protocol/notifications.ts"
import type { JournalReader, TranscriptReader } from "../ports.ts"
import type { OutputMetrics } from "../reports/gateway-metrics.ts"
import type { Screens } from "../screen-ports.ts"
import type { KeeperLink } from "./keeper-link.ts"
import type { LiveExecutions } from "./live-executions.ts"
import type { NotifyPorts } from "./notify.ts"

/** What the operations work with. */
export type OperationPorts = {
  link: () => KeeperLink
  journal: () => JournalReader
  transcripts: () => TranscriptReader
  live: LiveExecutions
  policy: PolicyKind
  output: OutputMetrics
  screens: Screens
  notify: NotifyPorts
  /** Who asks these operations has placed what it starts, and refused what clients may not say. */
  isOfFleet: boolean
}
