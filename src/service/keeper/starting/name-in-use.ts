import { nameOf } from "../../../execution/name.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionSpec } from "../../../execution/spec.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"

type Live = { named(name: string, principal: string): ExecutionRecord | null }

/**
 * Why a principal may not start this now; null where it may. As it is recorded: by that name it
 * will be found, and what is redacted of it is told nobody.
 */
export function nameInUse(
  { labels }: Pick<ExecutionSpec, "labels">,
  principal: string,
  live: Live,
): Failure | null {
  const name = nameOf(labels)
  const holder = name === null ? null : live.named(name, principal)
  if (holder === null) return null
  const { id, state } = holder
  const message =
    `The name ${JSON.stringify(name)} is in use by execution ${id}, which is ${state.kind}: ` +
    "choose another name, or cancel that execution first."
  return failure("NAME_IN_USE", message, { name, execution_id: id, state: state.kind })
}
