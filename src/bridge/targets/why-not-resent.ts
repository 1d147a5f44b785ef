import { wordOf } from "../messages/message.ts"
import { gaveUpRepeating, lostWithoutRepeat, mayHaveBeenDone, type Problem } from "../problem.ts"
import type { KnownTarget } from "./known-target.ts"
import { isStream, type PendingRequest } from "./pending-requests.ts"
import type { LinkEnd } from "./reconnecting/link.ts"

/** Why a request whose connection was lost is not sent again; null when it is. */
export function whyNotResent(
  { request, sends, hasBegun }: PendingRequest,
  { why }: Pick<LinkEnd, "why">,
  target: KnownTarget,
  mostSends: number,
): Problem | null {
  const { name } = target
  if (isStream(request)) return null
  if (hasBegun && !target.isOurs) return lostWithoutRepeat(name, request.method, why)
  if (!target.mayBeRepeated(request)) {
    return mayHaveBeenDone(name, wordOf(request.params["name"]), why)
  }
  return sends < mostSends ? null : gaveUpRepeating(name, sends, why)
}
