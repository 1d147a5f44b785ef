import { type ExecutionRecord, retainedBytes } from "../../../../execution/record.ts"
import { countText } from "../../../../lib/count-text.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { McpScope } from "../ports.ts"
import { newestOutput } from "./newest-output.ts"
import { readPage } from "./output-page.ts"

/** As much of an output as fits: all of it, or its beginning and its end. */
export type Excerpt = {
  head: string
  /** Empty where the head is everything. */
  tail: string
  omittedBytes: number
  /** Where the omitted part begins; null when nothing is omitted. */
  omittedFrom: string | null
}

/** What begins well ends worth reading: of a long output more of the end is shown. */
const headShare = 1 / 3

export async function excerptOf(
  scope: McpScope,
  record: ExecutionRecord,
  mostBytes: number,
): Promise<Result<Excerpt, Failure>> {
  const request = { executionId: record.id, from: "start", stream: null }
  const isWhole = retainedBytes(record.transcript) <= mostBytes
  const headBytes = isWhole ? mostBytes : Math.floor(mostBytes * headShare)
  const head = await readPage(scope, { ...request, mostBytes: headBytes })
  if (!head.ok) return head
  const { text, next, sequence, hasMore } = head.value
  if (!hasMore) return ok({ head: text, tail: "", omittedBytes: 0, omittedFrom: null })
  const tailBytes = mostBytes - headBytes
  const wanted = { lines: null, mostBytes: tailBytes, stream: null }
  const tail = await newestOutput(scope, record, wanted)
  if (!tail.ok) return tail
  const omittedBytes = Math.max(0, tail.value.sequence - sequence)
  return ok({ head: text, tail: tail.value.text, omittedBytes, omittedFrom: next })
}

export function excerptText({ head, tail, omittedBytes, omittedFrom }: Excerpt): string {
  if (omittedFrom === null) return head
  const how = `read them with \`output\` and from: ${JSON.stringify(omittedFrom)}`
  const mark = `[… ${countText(omittedBytes, "byte")} not shown here: ${how} …]`
  return `${withLineEnd(head)}${mark}\n${tail}`
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}
