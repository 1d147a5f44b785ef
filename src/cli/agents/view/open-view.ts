import type { Client } from "../../../client/connect.ts"
import { SessionLog, type SessionNotice } from "../../../client/session-log.ts"
import type { ExecutionView } from "../../../protocol/execution-view.ts"
import type { ResultOf } from "../../../protocol/methods.ts"
import type { Context } from "../../context.ts"
import type { NoticeOutput } from "./notice-output.ts"
import { viewSession } from "./session-view.ts"

/** Words of an agent come in events of hundreds of bytes each, so this is a few pages of text. */
const pastBytes = 4 * 1024 * 1024

/** A session from its start on. */
export async function viewStarted(
  context: Context,
  notices: NoticeOutput,
  client: Client,
  started: Pick<ResultOf<"agent.start">, "execution_id" | "turn_id" | "worktree">,
): Promise<number> {
  await using session = await client.attachAgent(started.execution_id)
  const ownTurns = started.turn_id === undefined ? [] : [started.turn_id]
  const log = new SessionLog()
  return await viewSession(context, notices, {
    session,
    past: [],
    log,
    isCut: false,
    ownTurns,
    principal: null,
    hasWorktree: started.worktree !== undefined,
  })
}

/** A session with what was said in it last. */
export async function viewAttached(
  context: Context,
  notices: NoticeOutput,
  client: Client,
  view: ExecutionView,
): Promise<number> {
  const log = new SessionLog()
  const past: SessionNotice[] = []
  let next = `tail-bytes:${pastBytes}`
  const { execution_id } = view
  const end = view.bytes.stdout + view.bytes.stderr
  for (let reached = 0; reached < end; ) {
    const page = await client.call("transcript.read", { execution_id, from: next })
    for (const { type, data } of page.chunks) past.push(...log.add(type, data))
    next = page.next
    reached = page.more === true ? (page.sequence ?? end) : end
  }
  const isCut = end > pastBytes
  await using session = await client.attachAgent(execution_id, { from: next })
  const hasWorktree = view.worktree !== undefined
  const { principal = null } = await client.connected
  const begun = { session, past, log, isCut, ownTurns: [], principal, hasWorktree }
  return await viewSession(context, notices, begun)
}
