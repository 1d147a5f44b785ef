import { z } from "zod"
import { CallError } from "../../client/client-error.ts"
import { delay } from "../../lib/delay.ts"
import { failure } from "../../protocol/failure.ts"
import { refusalIn } from "./refusal.ts"
import { authorization, secret } from "./secret.ts"

const Ticket = z.object({ ticket: z.string() })
const retryMs = 500

/** A page cannot send a header with a WebSocket: a ticket, good for one connection, stands in. */
export async function openSocket(url: string): Promise<WebSocket> {
  const { ticket } = await takeTicket()
  return new WebSocket(`${url}?ticket=${encodeURIComponent(ticket)}`)
}

/** Waits as long as nobody answers: the service may be starting again. */
async function takeTicket(): Promise<z.infer<typeof Ticket>> {
  while (true) {
    const asked = fetch("/tickets", { method: "POST", headers: authorization() })
    const answer = await asked.catch(() => null)
    if (answer?.ok === true) return Ticket.parse(await answer.json())
    if (answer?.status === 401 || answer?.status === 403) {
      const reason = answer.status === 401 ? "UNAUTHORIZED" : "FORBIDDEN"
      // It is good for nothing any more, and must not keep out who would be let in without it.
      if (answer.status === 401) secret.forget()
      throw new CallError(failure(reason, refusalIn(await answer.json())))
    }
    const seconds = Number(answer?.headers.get("retry-after") ?? 0)
    await delay(Math.max(retryMs, seconds * 1000))
  }
}
