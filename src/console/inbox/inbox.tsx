import { onOneLine } from "../../lib/harmless-text.ts"
import { useConsole } from "../live/use-console.ts"
import { clockText } from "../parts/format.ts"
import { NotifySwitch } from "../parts/notify-switch.tsx"
import { answerWord } from "../parts/state-words.ts"
import { addressOf } from "../place.ts"
import { QuestionCard } from "./question-card.tsx"

/** Everything that waits for a person. */
export function Inbox({ question }: { question: string | null }) {
  const { questions, executions } = useConsole()
  if (!questions.isLoaded.value) return <p class="quiet">Loading…</p>
  const { questions: open, interrupted } = questions.inbox.value
  const first = open.filter((one) => keyOf(one) === question)
  const others = open.filter((one) => keyOf(one) !== question)
  return (
    <>
      <div class="bar">
        <h1>Inbox</h1>
        <NotifySwitch />
      </div>
      {question !== null && first.length === 0 && (
        <p role="status">
          The question that led here was answered meanwhile, or is not asked any more.{" "}
          <a
            href={addressOf({
              kind: "execution",
              id: sessionOf(question),
              line: null,
              part: "session",
            })}
          >
            See the session
          </a>
        </p>
      )}
      {open.length === 0 && (
        <p class="quiet">
          Nobody waits for an answer. When an agent wants to do something that nobody has allowed
          yet, its question appears here, with exactly what it wants to do; the first answer counts,
          from wherever it comes.
        </p>
      )}
      {[...first, ...others].map((one) => {
        const view = executions.all.value.get(one.execution_id)
        const name = view?.labels["name"] ?? one.execution_id.slice(0, 8)
        const { execution_id: id } = one
        return (
          <article key={keyOf(one)} class="waiting">
            <h2>
              <a href={addressOf({ kind: "execution", id, line: null, part: "session" })}>
                {onOneLine(name)}
              </a>{" "}
              <span class="quiet">{view === undefined ? "" : onOneLine(view.cwd)}</span>
            </h2>
            <QuestionCard question={one} heading="h3" />
          </article>
        )
      })}
      {interrupted.length > 0 && (
        <section>
          <h2>Interrupted</h2>
          {interrupted.map(({ execution_id, why, command }) => (
            <div key={execution_id}>
              <p>
                {execution_id.slice(0, 8)}: {onOneLine(why)}
              </p>
              <pre tabIndex={0}>{onOneLine(command)}</pre>
            </div>
          ))}
        </section>
      )}
      {questions.answered.value.length > 0 && (
        <section aria-label="Answered">
          <h2>Answered</h2>
          <ul class="plain">
            {questions.answered.value.map(({ key, what, by, behavior, at }) => (
              <li key={key}>
                <span class="quiet">{clockText(at)}</span>{" "}
                {onOneLine(`${what}: ${answerWord(behavior)} by ${by}`)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** From a key as `keyOf` makes it. */
function sessionOf(key: string): string {
  return key.split("-")[0] ?? key
}

function keyOf({ execution_id, question_id }: { execution_id: string; question_id: string }) {
  return `${execution_id}-${question_id}`
}
