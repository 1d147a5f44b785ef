import type { Fields } from "../messages/message.ts"

/**
 * Whether a cc-executor may be sent a `tools/call` again whose answer was lost. What a call starts
 * it starts once, by the call's key. A second signal would be a second signal; and input is written
 * once only where the call says how much came before it.
 */
export function ownCallMayRepeat(params: Fields): boolean {
  const { name, arguments: args } = params
  if (name === "signal") return false
  if (name !== "input") return true
  return typeof args === "object" && args !== null && "offset" in args
}
