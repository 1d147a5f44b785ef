import { lstatSync } from "node:fs"
import type { TargetLimits } from "../../bridge/ports.ts"
import type {
  Link,
  LinkFailure,
  OpenLink,
  Received,
} from "../../bridge/targets/reconnecting/link.ts"
import { mcpProtocol, openSocketLink } from "../../bridge/targets/reconnecting/ws-link.ts"
import { fail, type Result } from "../../lib/result.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { startIfNeeded } from "./auto-start.ts"
import { foreignAnswerMs, hasListener, openLocalSocket } from "./local-listener.ts"
import { runningKeeper } from "./running-keeper.ts"
import type { LocalState } from "./state-directory.ts"

/** A keeper that died may be started again by its owner; past this, nobody will. */
const restartLimitMs = 5_000

/**
 * Connections to the local service. One is started when somebody has something new to ask, and not
 * merely to keep a connection: who ended the service on purpose must not find it running again.
 */
export function localServiceLink(
  context: Context,
  { paths, isOwn }: LocalState,
  limits: TargetLimits,
): OpenLink {
  const patience = isOwn ? {} : { openMs: foreignAnswerMs }
  let missedSinceMs: number | null = null
  const openSocket = () => openLocalSocket(paths, [mcpProtocol])

  async function connect(received: Received): Promise<Result<Link, LinkFailure>> {
    const isThere = lstatSync(paths.socket, { throwIfNoEntry: false }) !== undefined
    if (!isThere) return fail(noService(true))
    const opened = await openSocketLink({ openSocket, ...limits, ...patience }, received)
    if (opened.ok) missedSinceMs = null
    return opened
  }

  async function connectOrStart(received: Received, hasNew: () => boolean) {
    const opened = await connect(received)
    const isRefused = !opened.ok && opened.failure.hasAnswered
    if (!opened.ok && !isOwn && hasListener(paths)) return fail(silent(opened.failure))
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

  return async (received, { hasNew }) => {
    try {
      return await connectOrStart(received, hasNew)
    } catch (error) {
      if (!(error instanceof UntrustedFileError)) throw error
      return fail(refused(error))
    }
  }
}

async function startFailure(context: Context, paths: StatePaths): Promise<LinkFailure | null> {
  try {
    await startIfNeeded(context, paths, ["--preload-mcp"])
    return null
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    return refused(error)
  }
}

function refused({ message: why }: Error): LinkFailure {
  return { why, isTransient: false, hasAnswered: false }
}

/** Whoever listens in a directory of somebody else's is asked once. */
function silent(failure: LinkFailure): LinkFailure {
  return { ...failure, isTransient: false }
}

function noService(isTransient: boolean): LinkFailure {
  const why = "it has ended. The next request starts a new one"
  return { why, isTransient, hasAnswered: false }
}
