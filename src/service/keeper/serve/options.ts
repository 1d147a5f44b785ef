import type { Logger } from "../../../log/log.ts"
import type { ServiceState } from "../../os/notify-systemd.ts"
import type { StartedBy } from "../../storage/lock-text.ts"
import type { ReceivedHandover } from "./receive-handover.ts"

export type ServeOptions = {
  version: string
  /** How to start this very program again. */
  self: readonly string[]
  /** The environment children start from. */
  env: Record<string, string | undefined>
  cwd: string
  /** What the program was started with, after its own name. */
  args: readonly string[]
  startedBy: StartedBy
  /** Where another program had this process before. */
  receivedHandover: ReceivedHandover | null
  logger: Logger
  /** Says something to whoever started the service, on standard error. */
  say: (text: string) => void
  /** Tells a service manager, where there is one, how far the service is. */
  tellManager: (state: ServiceState) => void
}
