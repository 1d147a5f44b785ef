import { useComputed, useSignal, useSignalEffect } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { addressOf } from "../place.ts"
import { OutputPane } from "./output-pane.tsx"
import { Search } from "./search.tsx"
import { StandardInput } from "./standard-input.tsx"
import { TimeJump } from "./time-jump.tsx"
import { Transcript } from "./transcript.ts"

/** What an execution writes, as text, and ways through it. */
export function Output({ view, line }: { view: ExecutionView; line: number | null }) {
  const { client, executions, canControl } = useConsole()
  const id = view.execution_id
  const transcript = useMemo(() => new Transcript(client, view), [id])
  const isFollowing = useSignal(line === null)
  const marked = useSignal<number | null>(line)
  const sought = useSignal("")
  useEffect(() => () => transcript[Symbol.dispose](), [transcript])
  useEffect(() => transcript.told(view), [transcript, view])
  useEffect(() => void (marked.value = line), [line])
  useSignalEffect(() => {
    transcript.isFollowing = isFollowing.value
  })
  // The transcript looks at its execution more often than anybody else: all may know.
  useSignalEffect(() => executions.tell(transcript.view.value))
  const linkTo = (one: number) => addressOf({ kind: "execution", id, line: one, part: "output" })
  const isEmpty = useComputed(() => transcript.lines.value === 0)
  return (
    <section class="transcript" aria-label="Output">
      <div class="bar">
        <Search id={id} sought={sought} found={(found) => (marked.value = found)} />
        <TimeJump transcript={transcript} found={(found) => (marked.value = found)} />
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing.value}
            disabled={isEmpty.value}
            onChange={(event) => (isFollowing.value = event.currentTarget.checked)}
          />
          Follow
        </label>
      </div>
      {transcript.failure.value !== null && <p role="alert">{transcript.failure.value}</p>}
      <OutputPane {...{ transcript, marked, sought, isFollowing, linkTo }} />
      {canControl.value && view.stdin === "pipe" && view.state !== "ended" && (
        <StandardInput id={id} />
      )}
    </section>
  )
}
