import { useSignal } from "@preact/signals"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { ParamsOf } from "../../protocol/methods.ts"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"
import { countText } from "../parts/format.ts"

const signals = ["SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL"]

/** What can be done with an execution now; nothing for who may only look. */
export function Steering({ view }: { view: ExecutionView }) {
  const { client, canControl } = useConsole()
  const task = useTask()
  const told = useSignal("")
  if (!canControl.value || view.state === "ended") {
    return <Told text={told.value} failure={task.failure} />
  }
  const order = (params: ParamsOf<"control">) =>
    task.run(async () => {
      told.value = ""
      const done = await client.call("control", { execution_id: view.execution_id, ...params })
      told.value = tellingOf(done)
    })
  const { state } = view
  return (
    <div class="steering" role="group" aria-label="Steering">
      {state === "paused" ? (
        <button type="button" disabled={task.isBusy} onClick={() => order({ type: "RESUME" })}>
          Resume
        </button>
      ) : (
        <button
          type="button"
          disabled={task.isBusy || state !== "running"}
          onClick={() => order({ type: "PAUSE" })}
        >
          Pause
        </button>
      )}
      <button type="button" disabled={task.isBusy} onClick={() => order({ type: "CANCEL" })}>
        Cancel
      </button>
      <select
        aria-label="Send a signal"
        disabled={task.isBusy}
        value=""
        onChange={(event) => {
          const signal = event.currentTarget.value
          event.currentTarget.value = ""
          if (signal !== "") order({ type: "SIGNAL", signal })
        }}
      >
        <option value="">Signal…</option>
        {signals.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Told text={told.value} failure={task.failure} />
    </div>
  )
}

function Told({ text, failure }: { text: string; failure: string | null }) {
  return (
    <span role="status" class={failure === null ? "told" : "told failure"}>
      {failure ?? text}
    </span>
  )
}

type Done =
  | { status: "paused" | "resumed" }
  | { status: "signaled"; processes: number }
  | { status: "canceled"; processes: readonly unknown[]; survivors: readonly unknown[] }

/** What was done, once it is done. */
function tellingOf(done: Done): string {
  switch (done.status) {
    case "paused":
    case "resumed":
      return ""
    case "signaled":
      return `Sent to ${countText(done.processes)} ${processes(done.processes)}.`
    case "canceled": {
      const { length } = done.processes
      const { length: left } = done.survivors
      const ended = `${countText(length)} ${processes(length)} ended`
      return left === 0 ? `${ended}; none is left.` : `${ended}; ${countText(left)} could not be.`
    }
  }
}

function processes(count: number): string {
  return count === 1 ? "process" : "processes"
}
