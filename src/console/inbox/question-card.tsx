import { useSignal } from "@preact/signals"
import { CallError } from "../../client/client-error.ts"
import { chosenInput, readChoices } from "../../client/messages/choices.ts"
import { inputFields, textField } from "../../client/messages/tool-input.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import type { OpenQuestion } from "../../protocol/agent.ts"
import type { ParamsOf } from "../../protocol/methods.ts"
import { useConsole } from "../live/use-console.ts"
import { type Task, useTask } from "../live/use-task.ts"
import { durationText } from "../parts/format.ts"
import { answerWord } from "../parts/state-words.ts"
import { ToolInput } from "./question-body.tsx"

type Answer = Omit<ParamsOf<"agent.answer">, "execution_id" | "question_id">

/** Headings have an order: how deep this one is depends on what it stands in. */
type QuestionProps = { question: OpenQuestion; heading: "h2" | "h3" }

/** A question with exactly what it is about, and every way to answer it. */
export function QuestionCard({ question, heading }: QuestionProps) {
  const { client, questions, canControl, nowMs } = useConsole()
  const task = useTask()
  const { execution_id, question_id, tool, title, description, input, subagent } = question
  const answer = (given: Answer) =>
    task.run(async () => {
      try {
        await client.call("agent.answer", { execution_id, question_id, ...given })
      } catch (error) {
        throw alreadyAnswered(error) ?? error
      } finally {
        questions.look()
      }
    })
  const choices = readChoices(input)
  const who = subagent === null ? "It" : `Its subagent ${onOneLine(subagent)}`
  const Heading = heading
  const age = durationText(nowMs.value - Date.parse(question.asked_at))
  return (
    <section class="question" aria-label={`Question ${question_id}`}>
      <Heading>
        {choices === null ? `${who} wants to use ${onOneLine(tool ?? "a tool")}` : `${who} asks`}
        <span class="quiet"> {age} ago</span>
      </Heading>
      {typeof title === "string" && title !== tool && <p>{onOneLine(title)}</p>}
      {typeof description === "string" && <p class="quiet">{onOneLine(description)}</p>}
      {choices === null ? (
        <ToolInput tool={tool} input={input} bytes={question.input_bytes} />
      ) : null}
      {!canControl.value && <p class="quiet">Your token does not allow to answer it.</p>}
      {canControl.value && choices === null && <Permission {...{ question, task, answer }} />}
      {canControl.value && choices !== null && <Choices {...{ question, task, answer }} />}
      {question.answer_by !== undefined && (
        <p class="quiet">
          Without an answer, a rule will {question.answer_then ?? "deny"} it in{" "}
          {durationText(Date.parse(question.answer_by) - nowMs.value)}.
        </p>
      )}
      {task.failure !== null && <p role="alert">{task.failure}</p>}
    </section>
  )
}

type AnswerProps = { question: OpenQuestion; task: Task; answer: (given: Answer) => void }

function Permission({ question, task, answer }: AnswerProps) {
  const mode = useSignal<"choose" | "edit" | "deny">("choose")
  const { input, suggestions, input_bytes } = question
  const [command] = textField(inputFields(input), "command")
  const editable = command ?? JSON.stringify(input, null, 2)
  const isLarge = input_bytes !== undefined
  if (mode.value === "edit") {
    return (
      <TextAnswer
        label={command === undefined ? "Input, as JSON" : "Command"}
        text={editable}
        action="Allow it like this"
        isBusy={task.isBusy}
        back={() => (mode.value = "choose")}
        done={(text) => {
          const updated_input = editedInput(input, command, text)
          if (updated_input === null)
            task.run(() => Promise.reject(new Error("This is not a JSON object.")))
          else answer({ behavior: "allow", updated_input })
        }}
      />
    )
  }
  if (mode.value === "deny") {
    return (
      <TextAnswer
        label="What the agent is told"
        text=""
        action="Deny"
        isBusy={task.isBusy}
        back={() => (mode.value = "choose")}
        done={(text) => answer({ behavior: "deny", ...(text === "" ? {} : { message: text }) })}
      />
    )
  }
  return (
    <div class="answers">
      <button type="button" disabled={task.isBusy} onClick={() => answer({ behavior: "allow" })}>
        Allow
      </button>
      <button type="button" disabled={task.isBusy} onClick={() => answer({ behavior: "deny" })}>
        Deny
      </button>
      <button type="button" onClick={() => (mode.value = "deny")}>
        Deny, and say why…
      </button>
      {!isLarge && (
        <button type="button" onClick={() => (mode.value = "edit")}>
          Edit…
        </button>
      )}
      {suggestions.length > 0 && (
        <button
          type="button"
          disabled={task.isBusy}
          title={onOneLine(JSON.stringify(suggestions))}
          onClick={() => answer({ behavior: "allow", remember: true })}
        >
          Always allow
        </button>
      )}
    </div>
  )
}

type TextProps = {
  label: string
  text: string
  action: string
  isBusy: boolean
  back: () => void
  done: (text: string) => void
}

function TextAnswer({ label, text, action, isBusy, back, done }: TextProps) {
  const value = useSignal(text)
  const submit = (event: Event) => {
    event.preventDefault()
    done(value.value)
  }
  return (
    <form class="fields" onSubmit={submit}>
      <label>
        {label}
        <textarea
          class="code"
          rows={Math.min(12, text.split("\n").length + 1)}
          value={value.value}
          onInput={(event) => (value.value = event.currentTarget.value)}
        />
      </label>
      <div class="answers">
        <button type="submit" disabled={isBusy}>
          {action}
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </form>
  )
}

/** What a person is to choose from: each part of the question has one answer, or several. */
function Choices({ question, task, answer }: AnswerProps) {
  const chosen = useSignal<Readonly<Record<string, readonly string[]>>>({})
  const choices = readChoices(question.input) ?? []
  const isComplete = choices.every((one) => (chosen.value[one.question] ?? []).length > 0)
  const choose = (part: string, label: string, isMulti: boolean, isOn: boolean) => {
    const before = isMulti ? (chosen.value[part] ?? []).filter((one) => one !== label) : []
    chosen.value = { ...chosen.value, [part]: isOn ? [...before, label] : before }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const answers = Object.fromEntries(
      choices.map((one) => [one.question, (chosen.value[one.question] ?? []).join(", ")]),
    )
    answer({ behavior: "allow", updated_input: chosenInput(question.input, answers) })
  }
  return (
    <form onSubmit={submit}>
      {choices.map(({ question: part, options, multiSelect = false }) => (
        <fieldset key={part} class="options">
          <legend>{onOneLine(part)}</legend>
          {options.map(({ label, description }) => (
            <label key={label}>
              <input
                type={multiSelect ? "checkbox" : "radio"}
                name={part}
                onChange={(event) => choose(part, label, multiSelect, event.currentTarget.checked)}
              />
              {onOneLine(label)}
              {description !== undefined && <span class="quiet"> {onOneLine(description)}</span>}
            </label>
          ))}
        </fieldset>
      ))}
      <div class="answers">
        <button type="submit" disabled={task.isBusy || !isComplete}>
          Answer
        </button>
        <button type="button" disabled={task.isBusy} onClick={() => answer({ behavior: "deny" })}>
          Do not answer
        </button>
      </div>
    </form>
  )
}

/** Null where it is not what a tool can be used with. */
function editedInput(
  input: unknown,
  command: string | undefined,
  text: string,
): Record<string, unknown> | null {
  if (command !== undefined) return { ...inputFields(input), command: text }
  const json = tryParseJson(text)
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json)
  return isObject ? { ...json } : null
}

/** Who was first. */
function alreadyAnswered(error: unknown): Error | null {
  if (!(error instanceof CallError) || error.failure.reason !== "ALREADY_ANSWERED") return null
  const { by, behavior } = error.failure.details ?? {}
  return new Error(`Already ${answerWord(String(behavior))} by ${onOneLine(String(by))}.`)
}
