import { type Signal, signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"

type Loaded<Props> =
  | { kind: "waiting" }
  | { kind: "here"; Component: ComponentType<Props> }
  | { kind: "failed" }

/** A view that is fetched when it is first shown. */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const loaded: Signal<Loaded<Props>> = signal({ kind: "waiting" })
  let isAsked = false
  const ask = () => {
    if (isAsked) return
    isAsked = true
    const asked = load().then(
      (Component) => void (loaded.value = { kind: "here", Component }),
      () => void (loaded.value = { kind: "failed" }),
    )
    ignoreUnhandledRejection(asked)
  }
  return function Lazily(props: Props) {
    ask()
    const state = loaded.value
    if (state.kind === "here") return <state.Component {...props} />
    if (state.kind === "waiting") return <p class="quiet">Loading…</p>
    return (
      <p role="alert">
        This part of the console could not be loaded: the service may be another version now.{" "}
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </p>
    )
  }
}
