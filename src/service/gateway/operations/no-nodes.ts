import { fail } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"
import type { NodeOperations } from "../node-operations.ts"

const noFleet = failure(
  "WRONG_STATE",
  "This service is not part of a fleet: it was started without --fleet.",
)

/** Of a service of its own. */
export const noNodes: NodeOperations = {
  list: async () => fail(noFleet),
  drain: async () => fail(noFleet),
  undrain: async () => fail(noFleet),
  forget: async () => fail(noFleet),
}
