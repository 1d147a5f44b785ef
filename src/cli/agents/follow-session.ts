import { z } from "zod"
import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import type { Context } from "../context.ts"
import { untilTold } from "../terminal/interrupts.ts"

/** What a follower looks at in an event of a session; everything else passes by. */
const SessionEvent = z.discriminatedUnion("event", [
  z.object({ event: z.literal("question"), question_id: z.string(), tool: z.string().nullable() }),
  z.object({
    event: z.literal("turn-ended"),
    outcome: z.string(),
    result: z.string().nullable().default(null),
  }),
  z.object({ event: z.literal("problem"), problem: z.string() }),
  z.object({ event: z.literal("limit"), status: z.string(), resets_at: z.string().nullable() }),
])
type SessionEvent = z.infer<typeof SessionEvent>

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
  const execution = await client.attach(id)
  await using _detach = execution
  using told = untilTold(context)
  told.signal.addEventListener("abort", () => void execution.detach())
  let rest = ""
  for await (const event of execution.output()) {
    if (event.kind !== "output" || event.stream !== "stdout") continue
    if (isJson) await context.stdout.writeBytes(event.bytes)
    const lines = (rest + (event.text ?? "")).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const said = SessionEvent.safeParse(tryParseJson(line))
      if (!said.success) continue
      const exitCode = await tell(context, id, said.data, isJson)
      if (exitCode === null) continue
      await client.call("agent.end", { execution_id: id })
      return exitCode
    }
  }
  if (told.signal.aborted) {
    await context.stderr.write(
      `The session goes on. Come back with \`cc-executor agent status ${shortId(id)}\`, ` +
        `end it with \`cc-executor agent end ${shortId(id)}\`.\n`,
    )
    return exitCodes.left
  }
  const { cause } = await execution.ended
  await context.stderr.write(`The session ended before the turn did (${cause ?? "by itself"}).\n`)
  return exitCodes.failure
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
      const what = said.tool === null ? "asks something" : `wants to use ${said.tool}`
      const answer = `cc-executor agent answer ${shortId(id)} ${said.question_id} allow`
      await context.stderr.write(
        `It ${what}. See \`cc-executor inbox\`; \`${answer}\` allows it.\n`,
      )
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
      if (!isJson && result !== null) await context.stdout.write(`${result}\n`)
      if (outcome === "success") return exitCodes.success
      await context.stderr.write(`The turn did not succeed: ${outcome}.\n`)
      return exitCodes.failure
    }
  }
}
