import { liveStates, type StateKind } from "../../execution/state.ts"
import { addressOf } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { commandText } from "./execution-text.ts"
import { listExecutions } from "./list-executions.ts"

/** Somebody waits with a finger on the key. */
const limitMs = 1000
const mostOffered = 100
const descriptionLength = 60

/**
 * The executions a person may mean, for a shell: a line for each, its id, a tab and what it is. No
 * service is started for it, and without an answer in time there is nothing to offer.
 */
export async function offerExecutions(
  context: Context,
  [which = "all"]: readonly string[],
): Promise<number> {
  const found = await Promise.race([lines(context, which).catch(() => []), nothingInTime()])
  await context.stdout.write(found.join(""))
  return 0
}

async function lines(context: Context, which: string): Promise<string[]> {
  const reached = await tryReach(context, addressOf(context, {}), "never")
  if (reached === null) return []
  await using _reached = reached
  const filter = { states: statesOf(which), labels: {}, limit: mostOffered }
  const views = await listExecutions(reached.client, filter)
  return views.map((view) => {
    const what = `${view.state} ${commandText(view)}`.slice(0, descriptionLength)
    return `${view.execution_id}\t${what}\n`
  })
}

function statesOf(which: string): readonly StateKind[] | null {
  if (which === "live") return liveStates
  return which === "ended" ? ["ended"] : null
}

async function nothingInTime(): Promise<string[]> {
  await Bun.sleep(limitMs)
  return []
}
