import type { StreamName } from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { OutputChunk, ResultOf } from "../../../../protocol/methods.ts"
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
  let at = from
  let gap: Missing | null = null
  for (let looks = 1; ; looks++) {
    const read = await readOutput(scope, { executionId, from: at, mostBytes })
    if (!read.ok) return read
    const { chunks, next, ended, more = false, sequence = 0 } = read.value
    gap = added(gap, read.value.gap)
    const text = textOf(chunks, stream)
    const isDone = text !== "" || ended || !more
    if (isDone || looks >= mostLooks) return ok({ text, next, sequence, ended, hasMore: more, gap })
    const found = await placeOfStream(scope, executionId, next, stream)
    if (!found.ok) return found
    at = found.value
  }
}

export type OutputRead = { executionId: string; from: string; mostBytes: number }

export function readOutput(
  { operations, caller }: McpScope,
  { executionId, from, mostBytes }: OutputRead,
  encoding: "utf8" | "base64" = "utf8",
): Promise<Result<ResultOf<"transcript.read">, Failure>> {
  const limit = { limit_bytes: mostBytes, encoding }
  return operations.readTranscript(caller, { execution_id: executionId, from, ...limit })
}

/** Where the wanted stream goes on, or as far as was looked. */
async function placeOfStream(
  scope: McpScope,
  executionId: string,
  from: string,
  stream: StreamName | null,
): Promise<Result<string, Failure>> {
  const read = await readOutput(scope, { executionId, from, mostBytes: mostReadBytes })
  if (!read.ok) return read
  const { chunks, gap, next } = read.value
  if (gap !== undefined) return ok(from) // it is told with the page that it stands before
  const index = chunks.findIndex(({ type }) => stream === null || type === stream)
  if (index < 0) return ok(next)
  return ok(chunks[index - 1]?.next ?? from)
}

function textOf(chunks: readonly OutputChunk[], stream: StreamName | null): string {
  const wanted = chunks.filter(({ type }) => stream === null || type === stream)
  return wanted.map(({ data }) => data).join("")
}

/** With what else is missing, if anything is. */
export function added(sum: Missing | null, more: Missing | undefined): Missing | null {
  if (more === undefined) return sum
  return { bytes: (sum?.bytes ?? 0) + more.bytes, lines: (sum?.lines ?? 0) + more.lines }
}
