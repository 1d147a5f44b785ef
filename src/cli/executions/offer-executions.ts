import type { Client } from "../../client/connect.ts"
import { ExecutionId, shortId } from "../../execution/id.ts"
import { nameOf } from "../../execution/name.ts"
import { liveStates, type StateKind } from "../../execution/state.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Candidate, Offer } from "../completion/offer.ts"
import { addressOf } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { commandText } from "./execution-text.ts"
import { listExecutions } from "./list-executions.ts"

type Wanted = Pick<Extract<Offer, { kind: "executions" }>, "which" | "typed">

/** Somebody waits with a finger on the key. */
const limitMs = 1000
const mostOffered = 100
const descriptionLength = 60

/**
 * The executions a person may mean, for a shell. No service is started for it, and without an
 * answer in time there is nothing to offer.
 */
export function offerExecutions(context: Context, wanted: Wanted): Promise<Candidate[]> {
  const nothingInTime = Bun.sleep(limitMs).then(() => [])
  return Promise.race([candidates(context, wanted).catch(() => []), nothingInTime])
}

async function candidates(context: Context, { which, typed }: Wanted): Promise<Candidate[]> {
  const reached = await tryReach(context, addressOf(context, {}), "never")
  if (reached === null) return []
  await using _reached = reached
  const live = which === "ended" ? [] : await newest(reached.client, liveStates)
  const ended = which === "live" ? [] : await newest(reached.client, ["ended"])
  return candidatesFrom([...live, ...ended].slice(0, mostOffered), typed)
}

function newest(client: Client, states: readonly StateKind[]): Promise<ExecutionView[]> {
  return listExecutions(client, { states, labels: {}, limit: mostOffered })
}

/** By name, where it has one that means it, and by id; in the order in which they are given. */
export function candidatesFrom(views: readonly ExecutionView[], typed: string): Candidate[] {
  const named = new Set<string>()
  return views.flatMap((view) => {
    const { execution_id: id, state } = view
    // A shell takes lines for candidates, and types the chosen one: an id of a server is only taken
    // where it is one, and a name where it is a plain word.
    if (!ExecutionId.safeParse(id).success) return []
    const short = shortFor(id, typed, views)
    const name = nameOf(view.labels) ?? ""
    const command = commandText(view)
    const isOffered = plainWord.test(name) && !named.has(name)
    named.add(name)
    const byName = { value: name, about: aboutText(short, state, command) }
    const byId = {
      value: short,
      about: aboutText(plainWord.test(name) ? name : "", state, command),
    }
    return isOffered ? [byName, byId] : [byId]
  })
}

/** What no shell takes for more than one word, an option, or something to expand. */
const plainWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$/u

/** As `ps` shows it, unless more of it was typed, or another begins the same. */
function shortFor(id: string, typed: string, views: readonly ExecutionView[]): string {
  const short = shortId(id)
  const isEnough = typed.length <= short.length || !id.startsWith(typed)
  const others = views.filter(({ execution_id }) => execution_id.startsWith(short))
  return isEnough && others.length === 1 ? short : id
}

function aboutText(...parts: readonly string[]): string {
  const told = parts.filter((part) => part !== "").join(" ")
  return told.slice(0, descriptionLength)
}
