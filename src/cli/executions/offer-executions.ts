import { liveStates, type StateKind } from "../../execution/state.ts"
import type { Candidate, Offer } from "../completion/offer.ts"
import { addressOf } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { commandText } from "./execution-text.ts"
import { listExecutions } from "./list-executions.ts"

type Which = Extract<Offer, { kind: "executions" }>["which"]

/** Somebody waits with a finger on the key. */
const limitMs = 1000
const mostOffered = 100
const descriptionLength = 60

/**
 * The executions a person may mean, for a shell. No service is started for it, and without an
 * answer in time there is nothing to offer.
 */
export function offerExecutions(context: Context, which: Which): Promise<Candidate[]> {
  const nothingInTime = Bun.sleep(limitMs).then(() => [])
  return Promise.race([candidates(context, which).catch(() => []), nothingInTime])
}

async function candidates(context: Context, which: Which): Promise<Candidate[]> {
  const reached = await tryReach(context, addressOf(context, {}), "never")
  if (reached === null) return []
  await using _reached = reached
  const filter = { states: statesOf(which), labels: {}, limit: mostOffered }
  const views = await listExecutions(reached.client, filter)
  return views.map((view) => {
    const about = `${view.state} ${commandText(view)}`.slice(0, descriptionLength)
    return { value: view.execution_id, about }
  })
}

function statesOf(which: Which): readonly StateKind[] | null {
  if (which === "live") return liveStates
  return which === "ended" ? ["ended"] : null
}
