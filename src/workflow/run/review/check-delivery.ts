import { basename } from "node:path"
import { readReviewName } from "../../documents/review/review-name.ts"
import { WorkFailure } from "../work-failure.ts"
import { readDelivery } from "./delivery-faults.ts"
import { readFile } from "./review-place.ts"

/** All that is wrong with the form of two files that are to be delivered, in words. */
export function checkDelivery(feedback: string, fixes: string): readonly string[] {
  const name = readReviewName(basename(fixes))
  if (name === null || name.kind !== "fixes") {
    throw new WorkFailure(
      `${fixes} is not called as a list of fixes is: 017_websocket_fixes.json, for example.`,
    )
  }
  const read = readDelivery({ feedback: readFile(feedback), fixes: readFile(fixes) }, name)
  return read.ok ? [] : read.failure
}
