import type { AgentSession } from "../../client/agent-session.ts"
import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import { aborted } from "../../lib/delay.ts"
import type { SessionEvent } from "../../protocol/agent-event.ts"
import { nextCommand } from "../connect/next-command.ts"
import type { Context } from "../context.ts"
import { untilTold } from "../terminal/interrupts.ts"
import { messageWriter } from "../terminal/message-writer.ts"
import { endOfWorktree } from "./changes-text.ts"
import { successorOf } from "./successor.ts"

const exitCodes = { success: 0, failure: 1, left: 130 } as const

/**
 * Waits for the end of a session's turn, says what it waits for, and prints its result. The session
 * is ended then: it was started for this turn.
 */
export async function followSession(
  context: Context,
  client: Client,
  id: string,
  { isJson }: { isJson: boolean },
): Promise<number> {
  await using session = await client.attachAgent(id)
  const writeEvent = messageWriter(context.stdout)
  using told = untilTold(context)
  told.signal.addEventListener("abort", () => void session.detach())
  for await (const notice of session.events()) {
    if (isJson && "line" in notice) await writeEvent(`${notice.line}\n`)
    if (notice.kind !== "event") continue
    const exitCode = await tell(context, id, notice.event, isJson)
    if (exitCode === null) continue
    await session.end()
    await tellChanges(context, session, told.signal)
    return exitCode
  }
  if (told.signal.aborted) {
    const status = nextCommand(context, "agent status", shortId(id))
    const end = nextCommand(context, "agent end", shortId(id))
    await context.stderr.write(
      `The session goes on. Come back with \`${status}\`, end it with \`${end}\`.\n`,
    )
    return exitCodes.left
  }
  const { cause, outcome } = await session.execution.ended
  const next = outcome === "lost" ? await successorOf(client, id, told.signal) : null
  if (next !== null) {
    await context.stderr.write(`The service died; the session goes on as ${shortId(next)}.\n`)
    return await followSession(context, client, next, { isJson })
  }
  await context.stderr.write(`The session ended before the turn did (${cause ?? "by itself"}).\n`)
  return exitCodes.failure
}

/** What came of it, where it had a worktree to itself. */
async function tellChanges(
  context: Pick<Context, "stderr" | "serviceOptions">,
  session: AgentSession,
  signal: AbortSignal,
): Promise<void> {
  const { worktree } = await session.status()
  if (worktree === undefined) return
  // Before its end nobody can take it.
  await Promise.race([session.execution.ended, aborted(signal)])
  await context.stderr.write(`${endOfWorktree(context, session.id, await session.changes())}\n`)
}

/** Answers the exit code when the turn has ended. */
async function tell(
  context: Context,
  id: string,
  said: SessionEvent,
  isJson: boolean,
): Promise<number | null> {
  switch (said.event) {
    case "question": {
      if (said.decided_by !== undefined) return null
      const what = said.tool === null ? "asks something" : `wants to use ${said.tool}`
      const words = [shortId(id), said.question_id, "allow"]
      const answer = nextCommand(context, "agent answer", ...words)
      await context.stderr.write(
        `It ${what}. See \`${nextCommand(context, "inbox")}\`; \`${answer}\` allows it.\n`,
      )
      return null
    }
    case "answer": {
      if (said.behavior !== "deny" || said.rule === undefined) return null
      await context.stderr.write(`${said.message ?? `Denied by rule ${said.rule}.`}\n`)
      return null
    }
    case "problem":
      await context.stderr.write(`${said.problem}\n`)
      return null
    case "limit": {
      if (said.status !== "rejected") return null
      const until = said.resets_at === null ? "" : ` until ${said.resets_at}`
      await context.stderr.write(`A usage limit was reached; it waits${until}.\n`)
      return null
    }
    case "turn-ended": {
      const { outcome, result } = said
      if (!isJson && result) await context.stdout.write(`${result}\n`)
      if (outcome === "success") return exitCodes.success
      await context.stderr.write(`The turn did not succeed: ${outcome}.\n`)
      return exitCodes.failure
    }
    default:
      return null
  }
}
