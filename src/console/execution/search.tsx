import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"
import { bytesText, countText } from "../parts/format.ts"

type Match = ResultOf<"transcript.search">["matches"][number]
type Found = { matches: Match[]; searchedBytes: number; isComplete: boolean }

const mostMatches = 1_000
const nothing: Found = { matches: [], searchedBytes: 0, isComplete: false }

type SearchProps = { id: string; sought: Signal<string>; found: (line: number) => void }

/** Searches all that is kept of an output; what it finds is shown while it goes on. */
export function Search({ id, sought, found }: SearchProps) {
  const { client } = useConsole()
  const result = useSignal(nothing)
  const at = useSignal(0)
  const task = useTask()
  const latest = useRef(0)
  useEffect(() => () => void (latest.current += 1), [])

  const goTo = (index: number) => {
    const match = result.value.matches[index]
    if (match === undefined) return
    at.value = index
    found(match.line)
  }
  const search = async (text: string, number: number) => {
    let from = "start"
    result.value = nothing
    while (latest.current === number) {
      const params = { execution_id: id, text, from, ignore_case: true, limit: 100 }
      const page = await client.call("transcript.search", params)
      if (latest.current !== number) return
      const { matches, searchedBytes } = result.value
      const isFirst = matches.length === 0 && page.matches.length > 0
      result.value = {
        matches: [...matches, ...page.matches],
        searchedBytes: searchedBytes + page.searched_bytes,
        isComplete: page.complete,
      }
      if (isFirst) goTo(0)
      if (page.complete || result.value.matches.length >= mostMatches) return
      from = page.next
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget
    if (!(form instanceof HTMLFormElement)) return
    const text = textIn(form)
    // Enter again goes on to the next one.
    if (text !== "" && text === sought.value) return goTo(at.value + 1)
    latest.current += 1
    const number = latest.current
    sought.value = text
    if (text === "") result.value = nothing
    else task.run(() => search(text, number))
  }
  const { matches } = result.value
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input type="search" name="text" aria-label="Search the output" placeholder="Search" />
      <button type="submit" class="unseen">
        Search
      </button>
      {sought.value !== "" && (
        <>
          <span role="status">{statusText(result.value, at.value, task.isBusy)}</span>
          <button
            type="button"
            aria-label="Previous match"
            disabled={at.value === 0}
            onClick={() => goTo(at.value - 1)}
          >
            ↑
          </button>
          <button
            type="button"
            aria-label="Next match"
            disabled={at.value >= matches.length - 1}
            onClick={() => goTo(at.value + 1)}
          >
            ↓
          </button>
          {task.failure !== null && <span role="alert">{task.failure}</span>}
        </>
      )}
      {matches[at.value] !== undefined && (
        <span class="unseen">{onOneLine(matches[at.value]?.text ?? "")}</span>
      )}
    </form>
  )
}

function textIn(form: HTMLFormElement): string {
  const text = new FormData(form).get("text")
  return typeof text === "string" ? text : ""
}

function statusText(found: Found, at: number, isBusy: boolean): string {
  const { matches, searchedBytes, isComplete } = found
  if (isBusy && matches.length === 0) return `Searched ${bytesText(searchedBytes)}…`
  if (matches.length === 0) return "Not found"
  const more = isComplete ? "" : "+"
  return `${countText(at + 1)} of ${countText(matches.length)}${more}`
}
