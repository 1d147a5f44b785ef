import type { ExecutionView } from "../../protocol/execution-view.ts"

export type Filter = (view: ExecutionView) => boolean

/**
 * Words, all of which an execution must have somewhere; `state:running` and `outcome:lost` look at
 * just that, and any other `name:value` at a label, unless no execution could have such a label.
 */
export function readFilter(text: string): Filter {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean).map(readWord)
  return (view) => wanted.every((isWanted) => isWanted(view))
}

function readWord(word: string): Filter {
  const [, name = "", value = ""] = /^([^:]+):(.+)$/.exec(word) ?? []
  const anywhere: Filter = (view) => textOf(view).includes(word)
  if (name === "") return anywhere
  if (name === "state") return (view) => view.state.startsWith(value)
  if (name === "outcome") return (view) => view.ending?.outcome.startsWith(value) === true
  return (view) => {
    const labels = Object.entries(view.labels)
    const hasLabel = labels.some(
      ([key, text]) => key.toLowerCase() === name && text.toLowerCase().includes(value),
    )
    return hasLabel || anywhere(view)
  }
}

function textOf(view: ExecutionView): string {
  const { execution_id, command, argv, cwd, principal, labels, state, agent } = view
  const words = [execution_id, command ?? "", ...argv, cwd, principal, state]
  return [...words, ...Object.values(labels), agent?.model ?? "", agent?.session_id ?? ""]
    .join("\n")
    .toLowerCase()
}
