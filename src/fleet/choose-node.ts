import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Member } from "./members.ts"

export type Wish = {
  /** The node that was asked: taken before others where nobody says where to. */
  self: string
  on: Readonly<Record<string, string>> | undefined
  /** Those that have refused it. */
  tried: ReadonlySet<string>
  /** Slots of a node that its placements take: known sooner than what the node says of itself. */
  taken(node: string): number
}

const retryAfterS = 5

/** The node with the most free slots among those that fit. */
export function chooseNode(members: readonly Member[], wish: Wish): Result<Member, Failure> {
  const fitting = members.filter((member) => hasLabels(member, wish.on))
  if (fitting.length === 0) {
    const message = `No node of the fleet has ${labelsText(wish.on)}. See \`cc-executor node ls\`.`
    return fail(failure("INVALID_PARAMS", message))
  }
  const free = ({ name, entry }: Member) => entry.slots - wish.taken(name)
  const able = fitting.filter(
    (member) => member.state === "ready" && !wish.tried.has(member.name) && free(member) > 0,
  )
  const own = wish.on === undefined && able.find(({ name }) => name === wish.self)
  if (own) return ok(own)
  const [best] = able.toSorted((one, other) => free(other) - free(one))
  if (best !== undefined) return ok(best)
  const states = fitting.map(({ name, state }) => (state === "ready" ? name : `${name} (${state})`))
  const message = `No slot is free on ${states.join(", ")}: wait for \`retry_after\` seconds.`
  return fail(failure("AT_CAPACITY", message, { retry_after: retryAfterS }))
}

function hasLabels({ name, entry }: Member, on: Wish["on"] = {}): boolean {
  return Object.entries(on).every(([label, value]) =>
    label === "node" ? name === value : entry.labels[label] === value,
  )
}

function labelsText(on: Wish["on"] = {}): string {
  const labels = Object.entries(on).map(([name, value]) => `${name}=${value}`)
  return labels.length === 0 ? "joined yet" : labels.join(", ")
}
