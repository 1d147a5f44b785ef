import { useConsole } from "../live/use-console.ts"

/** Says that what is shown may be old, as long as it may. */
export function ConnectionNote() {
  const { connection, greeting } = useConsole()
  const isAway = connection.value.kind !== "connected"
  const text = greeting.value === null ? "Connecting…" : "Connection lost. Reconnecting…"
  return (
    <p role="status" class={isAway ? "connection away" : "connection"}>
      {isAway ? text : ""}
    </p>
  )
}
