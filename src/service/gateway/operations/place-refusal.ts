import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"

/** Nobody but a node of a fleet says where something runs, and which id it gets. */
export function placeRefusal({ on, placed }: ExecuteParams): Failure | null {
  if (placed !== undefined) return failure("INVALID_PARAMS", "`placed` is for nodes of a fleet.")
  if (on === undefined) return null
  const message = "This service is not part of a fleet: `on` has no meaning here. Leave it out."
  return failure("INVALID_PARAMS", message)
}
