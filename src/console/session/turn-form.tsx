import { useSignal } from "@preact/signals"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"

/** The next turn; an interruption of the one under way; the end. */
export function TurnForm({ id, view }: { id: string; view: ExecutionView }) {
  const { client, canControl } = useConsole()
  const text = useSignal("")
  const task = useTask()
  const send = (event: Event) => {
    event.preventDefault()
    if (text.value.trim() === "") return
    task.run(async () => {
      await client.call("agent.send", { execution_id: id, text: text.value })
      text.value = ""
    })
  }
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event)
  }
  const isIdle = view.agent?.turns.current === null
  return (
    <form class="fields next-turn" onSubmit={send}>
      <label for="turn">Next turn</label>
      <textarea
        id="turn"
        rows={3}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={sendByKey}
        aria-describedby="turn-how"
      />
      <div class="answers">
        <button type="submit" disabled={task.isBusy || text.value.trim() === ""}>
          Send
        </button>
        {canControl.value && (
          <>
            <button
              type="button"
              disabled={task.isBusy || isIdle}
              onClick={() =>
                task.run(
                  async () => void (await client.call("agent.interrupt", { execution_id: id })),
                )
              }
            >
              Interrupt
            </button>
            <button
              type="button"
              disabled={task.isBusy}
              onClick={() =>
                task.run(async () => void (await client.call("agent.end", { execution_id: id })))
              }
            >
              End the session
            </button>
          </>
        )}
        <span id="turn-how" class="quiet">
          Ctrl-Enter sends. It waits for the turn before it.
        </span>
      </div>
      {task.failure !== null && <p role="alert">{task.failure}</p>}
    </form>
  )
}
