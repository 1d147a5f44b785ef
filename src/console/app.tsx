import { effect, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { signOut } from "./access/secret.ts"
import { SignIn } from "./access/sign-in.tsx"
import { Frame } from "./frame.tsx"
import { ConsoleState } from "./live/console-state.ts"
import { ConsoleContext } from "./live/use-console.ts"

/** Tries to get in as who it is; asks for a token where that is not enough. */
export function App() {
  const state = useSignal<ConsoleState | null>(null)
  const refusal = useSignal<string | null>(null)
  const begin = () => {
    refusal.value = null
    state.value?.[Symbol.dispose]()
    state.value = new ConsoleState()
  }
  useEffect(begin, [])
  useEffect(
    () =>
      effect(() => {
        const connection = state.value?.connection.value
        if (connection?.kind === "closed") refusal.value = connection.why
      }),
    [],
  )
  if (refusal.value !== null) return <SignIn why={refusal.value} signedIn={begin} />
  if (state.value === null) return null
  const leave = async () => {
    await signOut()
    state.value?.[Symbol.dispose]()
    state.value = null
    refusal.value = "You have signed out."
  }
  return (
    <ConsoleContext.Provider value={state.value}>
      <Frame signOut={leave} />
    </ConsoleContext.Provider>
  )
}
