import { type Signal, signal } from "@preact/signals"
import { z } from "zod"

const RunsIn = z.enum(["container", "machine"])
const Refused = z.object({
  error: z.object({
    message: z.string(),
    data: z.object({ runs_in: RunsIn.optional() }).optional(),
  }),
})

/** Where the service's command line is found, once it was said: to whom lacks a token. */
export const runsIn: Signal<z.infer<typeof RunsIn> | null> = signal(null)

/** Why something was refused, as the service says it. */
export function refusalIn(told: unknown): string {
  const refused = Refused.safeParse(told)
  if (!refused.success) return "The service refused without a reason."
  const { message, data } = refused.data.error
  if (data?.runs_in !== undefined) runsIn.value = data.runs_in
  return message
}

/** What comes after it tells programs what to send, and a person has a form for that. */
export function firstSentence(text: string): string {
  return text.split(/(?<=\.) /)[0] ?? text
}
