import { ExecutionId, ExecutionIdPrefix } from "./id.ts"

/** What a principal means by a name: its live execution of that name, or else its latest. */
export type NamedExecution = { id: ExecutionId; principal: string; isLive: boolean }

/** The executions that somebody may see. */
export interface VisibleIds {
  /** At most one of each principal. */
  withName(name: string): readonly NamedExecution[]
  withPrefix(prefix: string, limit: number): readonly ExecutionId[]
}

export type Identified =
  | { kind: "found"; id: ExecutionId }
  | { kind: "unknown" }
  | { kind: "ambiguous"; candidates: ExecutionId[]; message: string }

/**
 * Which execution is meant: by its whole id, by its name, or by a unique prefix of its id, in this
 * order. Nothing that others share comes before what is one's own: else whoever shares something
 * could choose its name so that others act on it by mistake.
 */
export function identify(given: string, principal: string | null, visible: VisibleIds): Identified {
  if (ExecutionId.safeParse(given).success) return { kind: "found", id: given }
  const named = given === "" ? [] : visible.withName(given)
  const own = named.find((one) => one.principal === principal)
  if (own !== undefined) return { kind: "found", id: own.id }

  const isPrefix = ExecutionIdPrefix.safeParse(given).success
  const prefixed = isPrefix ? visible.withPrefix(given, 2) : []
  const live = named.filter(({ isLive }) => isLive)
  const others = live.length > 0 ? live : named
  const candidates = [...new Set([...others.map(({ id }) => id), ...prefixed])]
  const [only, second] = candidates
  if (only === undefined) return { kind: "unknown" }
  if (second === undefined) return { kind: "found", id: only }
  const message = others.length === 0 ? severalBegin(given) : severalMeant(given, others, prefixed)
  return { kind: "ambiguous", candidates, message }
}

function severalBegin(given: string): string {
  return `Several executions begin with ${given}: use more characters of the id.`
}

function severalMeant(
  given: string,
  named: readonly NamedExecution[],
  prefixed: readonly ExecutionId[],
): string {
  const byName = named.map(({ id, principal }) => `${id} of ${principal}`)
  const byPrefix = prefixed.filter((id) => named.every((one) => one.id !== id))
  const meant = [...byName, ...byPrefix].join(", ")
  return `${JSON.stringify(given)} may mean several executions: ${meant}. Use the id.`
}
