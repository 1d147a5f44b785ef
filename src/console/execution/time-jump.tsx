import { useTask } from "../live/use-task.ts"
import type { Transcript } from "./transcript.ts"

/** Leads to what was written at a time. */
export function TimeJump(props: { transcript: Transcript; found: (line: number) => void }) {
  const { transcript, found } = props
  const task = useTask()
  const { created_at } = transcript.view.value
  const jump = (text: string) => {
    const time = new Date(text)
    if (Number.isNaN(time.getTime())) return
    task.run(async () => found(await transcript.lineAt(time)))
  }
  return (
    <>
      <label class="time">
        From
        <input
          type="datetime-local"
          step="1"
          min={localTime(created_at)}
          onChange={(event) => jump(event.currentTarget.value)}
        />
      </label>
      {task.failure !== null && <span role="alert">{task.failure}</span>}
    </>
  )
}

/** As such a field wants it: without a time zone, and so in the reader's. */
function localTime(time: string): string {
  const date = new Date(time)
  const minutes = date.getTimezoneOffset()
  return new Date(date.getTime() - minutes * 60_000).toISOString().slice(0, 19)
}
