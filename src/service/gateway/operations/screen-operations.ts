import type { ExecutionId } from "../../../execution/id.ts"
import type { Scope } from "../../../execution/scope.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import { scopeOf } from "../../access/permission.ts"
import type { Operations } from "../ports.ts"
import type { ScreenQuestion } from "../screen-ports.ts"
import { encodeCursor } from "./cursor.ts"
import type { OperationPorts } from "./operation-ports.ts"
import { noHeld, TranscriptFeed, transcriptExpired } from "./output-feed.ts"
import { TerminalSizes } from "./terminal-sizes.ts"

type Asked = {
  resolve(caller: Caller, given: string, scope: Scope): Result<ExecutionId, Failure>
  /** Whether its transcript is still there. */
  keeps(id: ExecutionId): boolean
}

/** What can be asked of the terminal of an execution. */
export function screenOperations(
  { link, transcripts, live, output, screens }: OperationPorts,
  asked: Asked,
): Pick<Operations, "screen" | "openScreen" | "declareSize"> {
  const sizes = new TerminalSizes(link)

  return {
    async screen(caller, { execution_id, scrollback, form }) {
      const id = asked.resolve(caller, execution_id, scopeOf.screen)
      if (!id.ok) return id
      using _opening = live.opening(id.value)
      const shown = await screenAt(id.value, { scrollback, form })
      if (!shown.ok) return shown
      const { screen, position } = shown.value
      return ok({ ...screen, next: encodeCursor({ position, held: noHeld }) })
    },

    async openScreen(caller, executionId, scrollback, scope) {
      const id = asked.resolve(caller, executionId, scope)
      if (!id.ok) return id
      using _opening = live.opening(id.value)
      const shown = await screenAt(id.value, { scrollback, form: "restore" })
      if (!shown.ok) return shown
      const { screen, position, followed } = shown.value
      const from = encodeCursor({ position, held: noHeld })
      const start = { position, held: [], forgottenBytes: 0, from }
      const reader = transcripts()
      const feed = new TranscriptFeed(followed, start, reader, live, caller, output, "with-sizes")
      return ok({ screen, feed })
    },

    declareSize: (feed, size) => sizes.declare(feed.executionId, size),
  }

  async function screenAt(id: ExecutionId, question: ScreenQuestion) {
    const found = await live.follow(id)
    if (!found.ok) return found
    const followed = found.value
    if (followed === null) {
      return fail(failure("PROCESS_NOT_FOUND", `Unknown execution: ${JSON.stringify(id)}.`))
    }
    if (!asked.keeps(id)) return fail(transcriptExpired)
    const shown = await screens.screenOf(followed.record, followed.transcript, question)
    return shown.ok ? ok({ ...shown.value, followed }) : shown
  }
}
