import { signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { messageOf } from "../../lib/errno.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"

export type Task = {
  isBusy: boolean
  /** What came of the last one, null where it went well. */
  failure: string | null
  run: (work: () => Promise<void>) => void
}

/** Something a person has asked for: one at a time, and what went wrong stands beside it. */
export function useTask(): Task {
  const state = useMemo(() => signal<{ isBusy: boolean; failure: string | null }>(idle), [])
  const run = (work: () => Promise<void>) => {
    if (state.value.isBusy) return
    state.value = { isBusy: true, failure: null }
    const done = work().then(
      () => void (state.value = idle),
      (error: unknown) => void (state.value = { isBusy: false, failure: messageOf(error) }),
    )
    ignoreUnhandledRejection(done)
  }
  return { ...state.value, run }
}

const idle = { isBusy: false, failure: null }
