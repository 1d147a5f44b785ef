import { createHash } from "node:crypto"
import type { Digest } from "../../../execution/trial/announcement.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import { type JsonMember, type JsonNode, memberOf } from "../../../lib/json/json-text.ts"
import { faultAt, type JsonFault, readJson } from "../../../lib/json/read-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { WorkText } from "../document.ts"
import type { DocumentFault } from "../fault.ts"
import { noSettings } from "../front-matter.ts"
import { type CheckOfFix, FixListForm, type Severity, type WrittenFix } from "./fix-form.ts"
import { commandIn } from "./verification.ts"

/** What one round has found, and what became of it: `{SEQ}_{COMPONENT}_fixes.json`. */
export type FixList = WorkText & {
  kind: "fixes"
  reviewId: string | null
  component: string | null
  date: string | null
  fixes: readonly Fix[]
}

export type Fix = {
  id: string
  severity: Severity
  file: string | null
  place: string | null // the line, or lines, as the reviewer has written it
  issue: string
  fix: string
  verification: string | null // as it was written: a command, or prose
  check: CheckOfFix | null // null while nobody has given a command
  version: Digest // of what it says, without its result
  line: number
  node: JsonNode // the object that it is in the text
  result: JsonMember | null // what stands there, whoever has written it
}

export function readFixList(text: string): Result<FixList, DocumentFault> {
  const read = fixListIn(text)
  if (read.ok) return read
  const [first, ...more] = read.failure
  if (first === undefined) return fail({ line: 1, reason: "it cannot be read" })
  const further = more.length === 0 ? "" : ` (and ${more.length} more)`
  const { line, column, problem } = first
  return fail({ line, column, reason: problem + further })
}

/** The same with all that is wrong, where it is. */
export function fixListIn(text: string): Result<FixList, JsonFault[]> {
  const read = readJson(text, FixListForm)
  if (!read.ok) return read
  const { value, root } = read.value
  const list = memberOf(root, "fixes")?.value
  const nodes = list?.kind === "list" ? list.items : []
  const fixes = value.fixes.flatMap((written, index) => {
    const node = nodes[index]
    return node === undefined ? [] : [fixOf(text, written, node)]
  })
  const repeated = fixes.find(({ id }, index) => fixes.findIndex((one) => one.id === id) < index)
  if (repeated !== undefined) {
    const problem = `the id ${repeated.id} stands here twice: give each fix one of its own`
    return fail([faultAt(text, repeated.node.start, problem)])
  }
  const { review_id: reviewId = null, component = null, date = null } = value
  const unbound = { lines: [], regions: [], isBound: false, settings: noSettings }
  return ok({ kind: "fixes", text, ...unbound, reviewId, component, date, fixes })
}

function fixOf(text: string, written: WrittenFix, node: JsonNode): Fix {
  const { id, severity, file, line: place, issue, fix, verification, check: given } = written
  const said = { severity, file, place, issue, fix, verification, check: given }
  const { run, spoil } = verification
  const command = verification.isCommand ? run : run === null ? null : commandIn(run)
  const own = command === null ? null : { run: command, spoil, by: null }
  return {
    id,
    severity,
    file,
    place,
    issue,
    fix,
    verification: run,
    check: given ?? own,
    version: createHash("sha256").update(canonicalText(said)).digest("hex"),
    line: text.slice(0, node.start).split("\n").length,
    node,
    result: memberOf(node, "result"),
  }
}
