import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { toolEssence } from "../../client/messages/tool-input.ts"
import { messageOf } from "../../lib/errno.ts"
import { harmless, onOneLine } from "../../lib/harmless-text.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { ToolInput } from "../inbox/question-body.tsx"
import { QuestionCard } from "../inbox/question-card.tsx"
import { useConsole } from "../live/use-console.ts"
import { clockText } from "../parts/format.ts"
import { answerWord } from "../parts/state-words.ts"
import { Conversation, type Entry, type ToolCall } from "./conversation.ts"
import { Markdown } from "./markdown.tsx"
import { SessionBar } from "./session-bar.tsx"
import { TurnForm } from "./turn-form.tsx"

/** A session of an agent: what was said and done, what it asks, and what to do next. */
export function Session({ view }: { view: ExecutionView }) {
  const { client, questions, canExecute } = useConsole()
  const id = view.execution_id
  const conversation = useRef(new Conversation()).current
  const version = useSignal(0)
  const failure = useSignal<string | null>(null)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const closed = new AbortController()
    const follow = async () => {
      const session = await client.attachAgent(id)
      closed.signal.addEventListener("abort", () => ignoreUnhandledRejection(session.detach()))
      let isDrawn = false
      for await (const notice of session.events()) {
        if (closed.signal.aborted) return
        conversation.add(notice)
        // Many come at once, and are drawn once.
        if (isDrawn) continue
        isDrawn = true
        requestAnimationFrame(() => {
          isDrawn = false
          version.value += 1
        })
      }
    }
    const followed = follow().catch((error: unknown) => {
      if (!closed.signal.aborted) failure.value = messageOf(error)
    })
    ignoreUnhandledRejection(followed)
    return () => closed.abort()
  }, [id])
  useEffect(() => {
    if (isAtEnd()) end.current?.scrollIntoView({ block: "end" })
  }, [version.value])
  const open = questions.inbox.value.questions.filter((one) => one.execution_id === id)
  return (
    <section class="session" aria-label="Conversation">
      {view.agent && <SessionBar view={view} usage={conversation.usage} version={version.value} />}
      {failure.value !== null && <p role="alert">{failure.value}</p>}
      <Entries entries={conversation.entries} version={version.value} />
      {open.map((question) => (
        <QuestionCard key={question.question_id} question={question} heading="h2" />
      ))}
      {view.state !== "ended" && canExecute.value && <TurnForm id={id} view={view} />}
      <div ref={end} />
    </section>
  )
}

/** Whoever reads further up is not taken away from there. */
function isAtEnd(): boolean {
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement
  return scrollHeight - scrollTop - clientHeight < 300
}

const mostEntries = 300

/** What is shown grows in place: the version says that it has. */
type Growing = { version: number }

function Entries({ entries, version }: { entries: readonly Entry[] } & Growing) {
  const isAll = useSignal(false)
  const left = isAll.value ? 0 : Math.max(0, entries.length - mostEntries)
  return (
    <>
      {left > 0 && (
        <button type="button" onClick={() => (isAll.value = true)}>
          {left} earlier entries
        </button>
      )}
      {entries.slice(left).map((entry, index) => (
        <OneEntry key={left + index} entry={entry} version={version} />
      ))}
    </>
  )
}

function OneEntry({ entry, version }: { entry: Entry } & Growing) {
  switch (entry.kind) {
    case "turn":
      return (
        <div class="turn">
          <p class="quiet">
            {onOneLine(entry.by)}, {clockText(entry.at)}
          </p>
          <p class="said-text">{harmless(entry.text)}</p>
        </div>
      )
    case "said":
      return <Markdown text={entry.text} />
    case "call":
      return <Call call={entry.call} version={version} />
    case "answer": {
      const what = entry.tool === null ? entry.question : onOneLine(entry.tool)
      return (
        <p class="quiet">
          {what}: {answerWord(entry.behavior)} by {onOneLine(entry.by)}
        </p>
      )
    }
    case "note":
      return <p class={entry.tone}>{harmless(entry.text)}</p>
  }
}

const mostShown = 20_000

function Call({ call, version }: { call: ToolCall } & Growing) {
  const { tool, input, result, inside } = call
  const tone = result === null ? "live" : result.isError ? "bad" : "over"
  return (
    <details class="call">
      <summary>
        <span class={`state ${tone}`}>{onOneLine(tool)}</span>{" "}
        <code>{onOneLine(toolEssence(tool, input))}</code>
      </summary>
      <ToolInput tool={tool} input={input} />
      {inside.length > 0 && (
        <div class="inside">
          <Entries entries={inside} version={version} />
        </div>
      )}
      {result !== null && result.text !== "" && (
        <pre class="result" tabIndex={0}>
          {harmless(result.text.slice(0, mostShown))}
          {result.text.length > mostShown ? "\n…" : ""}
        </pre>
      )}
    </details>
  )
}
