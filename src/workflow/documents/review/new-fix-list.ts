import { memberOf } from "../../../lib/json/json-text.ts"
import { faultAt, type JsonFault, readJson } from "../../../lib/json/read-json.ts"
import { NewFixList } from "./fix-form.ts"
import { fixListIn } from "./fix-list.ts"
import { type ReviewName, reviewId } from "./review-name.ts"

/** All that is wrong with a list that a reviewer has just written, in its order. */
export function newFixListFaults(text: string, name: ReviewName): JsonFault[] {
  const read = readJson(text, NewFixList)
  if (!read.ok) return read.failure
  const { value, root } = read.value
  const faults: JsonFault[] = []
  const mustBe = (key: "review_id" | "component", wanted: string) => {
    if (value[key] === wanted) return
    const at = memberOf(root, key)?.value.start ?? 0
    faults.push(faultAt(text, at, `${key}: must be ${JSON.stringify(wanted)}`))
  }
  mustBe("review_id", reviewId(name))
  mustBe("component", name.component)
  const list = fixListIn(text)
  if (!list.ok) return [...faults, ...list.failure]
  for (const { node, file, result, check } of list.value.fixes) {
    const { start } = memberOf(node, "file")?.value ?? node
    if (file?.startsWith("/") === true || file?.split("/").includes("..") === true) {
      const problem = "file: must be a path inside of the directory under review"
      faults.push(faultAt(text, start, problem))
    }
    if (result !== null) {
      const problem = "result: is not the reviewer's to say: leave it out"
      faults.push(faultAt(text, result.start, problem))
    }
    const given = check === null || check.by === null ? null : memberOf(node, "check")
    if (given !== null) {
      const problem = "check: is for others: write the command as `verification`"
      faults.push(faultAt(text, given.start, problem))
    }
  }
  return faults
}
