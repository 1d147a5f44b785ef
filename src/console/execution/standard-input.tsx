import { useEffect, useMemo, useRef } from "preact/hooks"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"

/** A line for the command to read: each once and in order, whatever becomes of the connection. */
export function StandardInput({ id }: { id: string }) {
  const { client } = useConsole()
  const field = useRef<HTMLInputElement>(null)
  const input = useMemo(() => client.input(id), [id])
  const task = useTask()
  useEffect(() => field.current?.focus(), [])
  const send = (event: Event) => {
    event.preventDefault()
    const { current } = field
    if (current === null) return
    task.run(async () => {
      await input.write(`${current.value}\n`)
      current.value = ""
    })
  }
  return (
    <form class="input" onSubmit={send}>
      <label for="stdin" class="unseen">
        Input
      </label>
      <input
        id="stdin"
        ref={field}
        class="code"
        placeholder="A line of input"
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" disabled={task.isBusy}>
        Send
      </button>
      <button type="button" disabled={task.isBusy} onClick={() => task.run(() => input.end())}>
        End of input
      </button>
      {task.failure !== null && <span role="alert">{task.failure}</span>}
    </form>
  )
}
