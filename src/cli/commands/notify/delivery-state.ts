import { DeliveryView } from "../../../protocol/notify.ts"
import { UsageFailure } from "../../failure.ts"
import { ageText } from "../../time.ts"

const State = DeliveryView.shape.state

export const stateOption = {
  choices: State.options,
  read(text: string): DeliveryView["state"] {
    const state = State.safeParse(text)
    if (state.success) return state.data
    throw new UsageFailure(`--state: "${text}" is not a state: use ${State.options.join(", ")}.`)
  },
}

/** What has become of a message, in a few words. */
export function deliveryState(
  delivery: DeliveryView,
  now: Date,
): { text: string; isGood: boolean } {
  const { state, attempts, attempt_count: count } = delivery
  const last = attempts.at(-1)
  const why = (last?.why ?? null) === null ? "" : `: ${last?.why}`
  switch (state) {
    case "delivered":
      return {
        text: `delivered${last === undefined ? "" : ` in ${last.took_ms} ms`}`,
        isGood: true,
      }
    case "pending": {
      if (count === 0) return { text: "waits", isGood: false }
      const waitMs = Date.parse(delivery.next_attempt_at ?? "") - now.getTime()
      const next = waitMs > 0 ? `again in ${ageText(waitMs)}` : "again at once"
      return { text: `failed ${times(count)}, ${next}${why}`, isGood: false }
    }
    case "refused":
      return { text: `refused${why}`, isGood: false }
    case "expired":
      return { text: `given up, too old${why}`, isGood: false }
    case "exhausted":
      return { text: `given up, tried ${times(count)}${why}`, isGood: false }
    case "displaced":
      return { text: `given up, too many waited${why}`, isGood: false }
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`
}
