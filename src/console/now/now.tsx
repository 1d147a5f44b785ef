import { useComputed, useSignal } from "@preact/signals"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { countText } from "../parts/format.ts"
import { Counts } from "./counts.tsx"
import { ExecutionRow } from "./execution-row.tsx"
import { readFilter } from "./filter.ts"
import { FirstSteps } from "./first-steps.tsx"

/** What runs, and what ended last. */
export function Now() {
  const { executions, canExecute } = useConsole()
  const words = useSignal("")
  const filter = useComputed(() => readFilter(words.value))
  const live = useComputed(() => executions.live.value.filter(filter.value))
  const ended = useComputed(() => executions.ended.value.filter(filter.value))
  if (!executions.isLoaded.value) return <p class="quiet">Loading…</p>
  if (executions.all.value.size === 0) return <FirstSteps />
  return (
    <>
      <div class="bar">
        <h1>Now</h1>
        <input
          type="search"
          aria-label="Filter"
          placeholder="Filter: words, state:running, label:value"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
        {canExecute.value && (
          <a class="button" href="#/start">
            Start…
          </a>
        )}
      </div>
      <Counts />
      <List title="Running" views={live.value} none="Nothing runs at the moment." />
      <List title="Ended" views={ended.value} none="Nothing has ended yet." />
      {executions.hasOlder.value && (
        <button type="button" onClick={() => ignoreUnhandledRejection(executions.loadOlder())}>
          Older ones
        </button>
      )}
    </>
  )
}

function List(props: { title: string; views: ExecutionView[]; none: string }) {
  const { title, views, none } = props
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="quiet">{countText(views.length)}</span>
      </h2>
      {views.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <ul class="executions">
          {views.map((view) => (
            <ExecutionRow key={view.execution_id} view={view} />
          ))}
        </ul>
      )}
    </section>
  )
}
