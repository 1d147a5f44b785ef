import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { messageOf } from "../../lib/errno.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { commandOf } from "../now/execution-row.tsx"
import { bytesText, countText, durationText, momentText } from "../parts/format.ts"
import { lazily } from "../parts/lazily.tsx"
import { stateOf } from "../parts/state-words.ts"
import { addressOf, type ExecutionPart } from "../place.ts"
import { Output } from "./output.tsx"
import { Steering } from "./steering.tsx"

const Session = lazily(async () => (await import("../session/session.tsx")).Session)
const TerminalScreen = lazily(async () => (await import("../terminal/terminal.tsx")).TerminalScreen)
const RecordPart = lazily(async () => (await import("./record.tsx")).RecordPart)

export type ExecutionProps = { id: string; line: number | null; part: ExecutionPart }

/** One execution: what it is and how it is, how to steer it, and what it wrote. */
export function Execution({ id, line, part }: ExecutionProps) {
  const { client, executions } = useConsole()
  const failure = useSignal<string | null>(null)
  const known = executions.all.value.get(id)
  useEffect(() => {
    const asked = client.call("status", { execution_id: id }).then(
      (view) => executions.tell(view),
      (error: unknown) => void (failure.value = messageOf(error)),
    )
    ignoreUnhandledRejection(asked)
  }, [id])
  if (known === undefined) {
    return failure.value === null ? (
      <p class="quiet">Loading…</p>
    ) : (
      <p role="alert">{failure.value}</p>
    )
  }
  return (
    <article class="execution">
      <Head view={known} />
      <Steering view={known} />
      <Parts view={known} part={part} />
      <Shown view={known} part={part} line={line} />
    </article>
  )
}

function Shown(props: { view: ExecutionView; part: ExecutionPart; line: number | null }) {
  const { view, part, line } = props
  if (part === "record") return <RecordPart view={view} />
  if (part === "session" && view.agent) return <Session view={view} />
  if (part === "terminal" && view.terminal !== null) return <TerminalScreen view={view} />
  return <Output view={view} line={line} />
}

function Head({ view }: { view: ExecutionView }) {
  const { nowMs } = useConsole()
  const { word, tone } = stateOf(view)
  const { labels, bytes, lines, started_at, ended_at, cwd, ending } = view
  const written = bytes.stdout + bytes.stderr
  const endMs = ended_at === null ? nowMs.value : Date.parse(ended_at)
  const ran = started_at === null ? null : durationText(endMs - Date.parse(started_at))
  const name = labels["name"]
  return (
    <header class="head">
      <h1>
        <span class={`state ${tone}`}>{word}</span>{" "}
        {name === undefined ? "" : `${onOneLine(name)} `}
        <code>{onOneLine(commandOf(view))}</code>
      </h1>
      <p class="facts">
        <span title={view.execution_id}>{view.execution_id.slice(0, 8)}</span>
        <span>{onOneLine(view.principal)}</span>
        <span>
          in <code>{onOneLine(cwd)}</code>
        </span>
        {ran !== null && <span>{ran}</span>}
        <span>
          {bytesText(written)}, {countText(lines.stdout + lines.stderr)} lines
        </span>
        {started_at !== null && <span>started {momentText(started_at)}</span>}
        {Object.entries(labels)
          .filter(([label]) => label !== "name")
          .map(([label, value]) => (
            <span key={label} class="label">
              {onOneLine(`${label}:${value}`)}
            </span>
          ))}
      </p>
      {typeof ending?.reason === "string" && <p class="failure">{onOneLine(ending.reason)}</p>}
    </header>
  )
}

function Parts({ view, part }: { view: ExecutionView; part: ExecutionPart }) {
  const isSession = Boolean(view.agent)
  const names: { part: ExecutionPart; title: string }[] = [
    ...(isSession ? [{ part: "session" as const, title: "Conversation" }] : []),
    ...(view.terminal === null ? [] : [{ part: "terminal" as const, title: "Terminal" }]),
    { part: "output", title: isSession ? "Events" : "Output" },
    { part: "record", title: "Record" },
  ]
  return (
    <nav class="parts" aria-label="Of this execution">
      {names.map((one) => (
        <a
          key={one.part}
          href={addressOf({ kind: "execution", id: view.execution_id, line: null, part: one.part })}
          aria-current={one.part === part ? "page" : undefined}
        >
          {one.title}
        </a>
      ))}
    </nav>
  )
}
