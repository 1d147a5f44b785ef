import type { StreamName } from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { Output } from "../../../../protocol/output-chunk.ts"
import type { OutputRequest } from "../../../../protocol/output-page.ts"
import type { McpScope } from "../ports.ts"

export type PageRequest = {
  executionId: string
  from: string
  /** Null for both, in the order they were written. */
  stream: StreamName | null
  mostBytes: number
}

export type OutputPage = {
  text: string
  next: string
  /** Output bytes of both streams before `next`. */
  sequence: number
  /** Nothing will ever follow `next`. */
  ended: boolean
  /** More is there already. */
  hasMore: boolean
  /** What was dropped by the budget before the text. */
  gap: Missing | null
}

export type Missing = { bytes: number; lines: number }

/** What is read at once, where more is to be looked at than shown. */
export const mostReadBytes = 1024 * 1024
/** So much of the other stream is passed over to find the next of the wanted one. */
const mostLooks = 64

/** The next page of output, never more than asked for, cut after a line where there is one. */
export async function readPage(
  scope: McpScope,
  { executionId, from, stream, mostBytes }: PageRequest,
): Promise<Result<OutputPage, Failure>> {
  const { operations, caller } = scope
  let at = from
  let gap: Missing | null = null
  for (let looks = 1; ; looks++) {
    const request = { executionId, from: at, form: "text", limitBytes: mostBytes } as const
    const read = await operations.readOutput(caller, request, (output) => textOf(output, stream))
    if (!read.ok) return read
    const { pieces, next, ended, more: hasMore, sequence } = read.value
    gap = added(gap, read.value.gap)
    const text = pieces.join("")
    const isDone = text !== "" || ended || !hasMore
    if (isDone || looks >= mostLooks) return ok({ text, next, sequence, ended, hasMore, gap })
    const found = await placeOfStream(scope, executionId, next, stream)
    if (!found.ok) return found
    at = found.value
  }
}

/** Where the wanted stream goes on, or as far as was looked. */
async function placeOfStream(
  { operations, caller }: McpScope,
  executionId: string,
  from: string,
  stream: StreamName | null,
): Promise<Result<string, Failure>> {
  const request: OutputRequest = { executionId, from, form: "text", limitBytes: mostReadBytes }
  const read = await operations.readOutput(caller, request, (output) => ({
    isWanted: output.stream === (stream ?? output.stream),
    next: output.next,
  }))
  if (!read.ok) return read
  const { pieces, gap, next } = read.value
  if (gap !== null) return ok(from) // it is told with the page that it stands before
  const index = pieces.findIndex(({ isWanted }) => isWanted)
  if (index < 0) return ok(next)
  return ok(pieces[index - 1]?.next ?? from)
}

// What begins with a byte order mark was written with one.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Empty where it is of the other stream. */
function textOf(output: Output, stream: StreamName | null): string {
  return output.stream === (stream ?? output.stream) ? decoder.decode(output.bytes) : ""
}

/** With what else is missing, if anything is. */
export function added(sum: Missing | null, more: Missing | null): Missing | null {
  if (more === null) return sum
  return { bytes: (sum?.bytes ?? 0) + more.bytes, lines: (sum?.lines ?? 0) + more.lines }
}
