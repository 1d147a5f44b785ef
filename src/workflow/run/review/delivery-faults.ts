import { jsonFaultText } from "../../../lib/json/read-json.ts"
import type { Result } from "../../../lib/result.ts"
import { fail, ok } from "../../../lib/result.ts"
import { decodeWork, faultText } from "../../documents/fault.ts"
import { newFixListFaults } from "../../documents/review/new-fix-list.ts"
import { type ReviewName, reviewFileName } from "../../documents/review/review-name.ts"
import type { Found } from "./review-place.ts"

export type Texts = { feedback: string; fixes: string }

/** The texts of both files, or all that is wrong with their form, in words. */
export function readDelivery(found: Found, name: ReviewName): Result<Texts, string[]> {
  const feedback = textOf(found.feedback, reviewFileName(name, "review_feedback"))
  const fixes = textOf(found.fixes, reviewFileName(name, "fixes"))
  const wrongFixes = fixes.ok
    ? newFixListFaults(fixes.value, name).map(
        (fault) => `${reviewFileName(name, "fixes")}, ${jsonFaultText(fault)}`,
      )
    : [fixes.failure]
  const faults = [...(feedback.ok ? [] : [feedback.failure]), ...wrongFixes]
  if (!feedback.ok || !fixes.ok || faults.length > 0) return fail(faults)
  return ok({ feedback: feedback.value, fixes: fixes.value })
}

function textOf(bytes: Uint8Array | null, file: string): Result<string, string> {
  if (bytes === null) return fail(`${file} is not there`)
  const text = decodeWork(bytes)
  if (!text.ok) return fail(`${file}, ${faultText(text.failure)}`)
  return text.value.trim() === "" ? fail(`${file} is empty`) : ok(text.value)
}
