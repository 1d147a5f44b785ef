import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { ConsoleState } from "./console-state.ts"

export const ConsoleContext = createContext<ConsoleState | null>(null)

export function useConsole(): ConsoleState {
  const state = useContext(ConsoleContext)
  if (state === null) throw new Error("nothing is shown before the service is known")
  return state
}
