import type { Config } from "../../../config/config.ts"
import { descriptorsFor } from "../../../execution/descriptor-needs.ts"

type Wanted = Pick<Config, "maxExecutions" | "maxSessions" | "tlsCert">

/** What the gateway has open besides connections, and needs to read transcripts. Seen: 13. */
const gatewayDescriptors = 32

/** With TLS a connection has another one behind it, of which both ends are here. */
const perTlsConnection = 3

/** Says where the limit does not allow what is configured; null where it does. */
export function fewDescriptorsWarning(limit: number, config: Wanted): string | null {
  const { maxExecutions, maxSessions } = config
  const forExecutions = descriptorsFor(maxExecutions)
  // As many again may read by HTTP.
  const connections = 2 * maxSessions * (config.tlsCert === null ? 1 : perTlsConnection)
  const forSessions = gatewayDescriptors + connections
  const why = [
    ...(forExecutions > limit
      ? [`--max-executions ${maxExecutions} may need ${forExecutions}`]
      : []),
    ...(forSessions > limit ? [`--max-sessions ${maxSessions} may need ${forSessions}`] : []),
  ]
  if (why.length === 0) return null
  return (
    `The limit of ${limit} file descriptors is too low for the settings: ${why.join(", ")}. ` +
    "Starts are refused before they run out. Raise the limit with `ulimit -n` or LimitNOFILE."
  )
}
