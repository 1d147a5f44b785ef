import { effect } from "@preact/signals"
import { onOneLine } from "../../lib/harmless-text.ts"
import { showNote } from "../parts/browser-note.ts"
import { stateOf } from "../parts/state-words.ts"
import type { Place } from "../place.ts"
import type { Executions } from "./executions.ts"
import type { Questions } from "./questions.ts"

/** Tells of new questions and of ends, where the person permits it and looks elsewhere. */
export function notifyOf(executions: Executions, questions: Questions): () => void {
  const asked = new Set<string>()
  const live = new Set<string>()
  let isFirst = true
  return effect(() => {
    const isLoaded = questions.isLoaded.value && executions.isLoaded.value
    for (const { execution_id, question_id, tool } of questions.inbox.value.questions) {
      const name = executions.all.peek().get(execution_id)?.labels["name"] ?? "An agent"
      const question = `${execution_id}-${question_id}`
      if (asked.has(question)) continue
      asked.add(question)
      const text = `It wants to use ${onOneLine(tool ?? "a tool")}.`
      if (!isFirst) tell(`${onOneLine(name)} has a question`, text, { kind: "inbox", question })
    }
    for (const view of executions.all.value.values()) {
      const { execution_id: id } = view
      if (view.state !== "ended") live.add(id)
      else if (live.delete(id) && !isFirst) {
        const name = onOneLine(view.labels["name"] ?? view.command ?? view.argv.join(" "))
        const place: Place = { kind: "execution", id, line: null, part: "output" }
        tell(`${stateOf(view).word}: ${name.slice(0, 80)}`, "", place)
      }
    }
    if (isLoaded) isFirst = false
  })
}

function tell(title: string, body: string, place: Exclude<Place, { kind: "unknown" }>): void {
  const isPermitted = "Notification" in window && Notification.permission === "granted"
  if (isPermitted && document.hidden) showNote({ title, body, place })
}
