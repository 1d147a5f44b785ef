import { existsSync } from "node:fs"
import type { TargetLimits } from "../../bridge/ports.ts"
import type {
  Link,
  LinkFailure,
  OpenLink,
  Received,
} from "../../bridge/targets/reconnecting/link.ts"
import { mcpProtocol, openSocketLink } from "../../bridge/targets/reconnecting/ws-link.ts"
import { fail, type Result } from "../../lib/result.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { startIfNeeded } from "./auto-start.ts"
import { runningKeeper } from "./running-keeper.ts"

/** A keeper that died may be started again by its owner; past this, nobody will. */
const restartLimitMs = 5_000

/**
 * Connections to the local service. One is started when somebody has something new to ask, and not
 * merely to keep a connection: who ended the service on purpose must not find it running again.
 */
export function localServiceLink(
  context: Context,
  paths: StatePaths,
  limits: TargetLimits,
): OpenLink {
  let missedSinceMs: number | null = null
  const socketUrl = `ws+unix://${paths.socket}:/ws/mcp`
  const openSocket = () => new WebSocket(socketUrl, { protocols: [mcpProtocol] })

  async function connect(received: Received): Promise<Result<Link, LinkFailure>> {
    if (!existsSync(paths.socket)) return fail(noService(true))
    const opened = await openSocketLink({ openSocket, ...limits }, received)
    if (opened.ok) missedSinceMs = null
    return opened
  }

  return async (received, { hasNew }) => {
    const opened = await connect(received)
    const isRefused = !opened.ok && opened.failure.hasAnswered
    if (opened.ok || isRefused || runningKeeper(paths.lock) !== null) return opened
    if (hasNew()) {
      const why = await startFailure(context, paths)
      return why === null ? connect(received) : fail(why)
    }
    missedSinceMs ??= performance.now()
    const isGone = performance.now() - missedSinceMs > restartLimitMs
    if (isGone) missedSinceMs = null
    return fail(noService(!isGone))
  }
}

async function startFailure(context: Context, paths: StatePaths): Promise<LinkFailure | null> {
  try {
    await startIfNeeded(context, paths, ["--preload-mcp"])
    return null
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    return { why: error.message, isTransient: false, hasAnswered: false }
  }
}

function noService(isTransient: boolean): LinkFailure {
  const why = "it has ended. The next request starts a new one"
  return { why, isTransient, hasAnswered: false }
}
