import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import { type OutputBit, type OutputBits, placeInside, readBits } from "./output-bits.ts"
import type { McpScope } from "./ports.ts"
import { endOfWholeText, StreamTexts } from "./whole-characters.ts"

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
  /** Output bytes of both streams before `next`, where anything was read. */
  sequence: number
  /** Nothing will ever follow `next`. */
  ended: boolean
  /** More is there already. */
  hasMore: boolean
  gap: { bytes: number; lines: number } | null
}

const lineEnd = 0x0a
/** Where only one stream is wanted, so much of the other is passed over at once. */
const mostPassedPages = 64

/** The next page of output, never more than asked for, cut after a line where there is one. */
export async function readPage(
  scope: McpScope,
  { executionId, from, stream, mostBytes }: PageRequest,
): Promise<Result<OutputPage, Failure>> {
  let at = from
  let gap: OutputPage["gap"] = null
  for (let pages = 1; ; pages++) {
    const read = await readBits(scope, executionId, at, mostBytes)
    if (!read.ok) return read
    const page = pageOf(read.value, stream, mostBytes)
    gap = added(gap, page.gap)
    const isDone = page.text !== "" || page.ended || !page.hasMore
    if (isDone || pages >= mostPassedPages) return ok({ ...page, gap })
    at = page.next
  }
}

function pageOf(read: OutputBits, stream: StreamName | null, mostBytes: number): OutputPage {
  const texts = new StreamTexts()
  let room = mostBytes
  let length = 0
  let sequence = 0
  for (const [index, bit] of read.bits.entries()) {
    length += bit.bytes.length
    sequence = bit.sequence + bit.bytes.length
    if (stream !== null && bit.stream !== stream) continue
    const isLast = index === read.bits.length - 1
    const end = endOf(bit, room, isLast && !read.ended)
    texts.add(bit.stream, bit.bytes.subarray(0, end))
    room -= end
    if (end === bit.bytes.length) continue
    // What is left is either too much for this page, or the beginning of a character.
    const hasMore = !isLast || bit.bytes.length - end > 3
    const next = placeInside(bit, end)
    sequence = bit.sequence + end
    return { text: texts.text(), next, sequence, ended: false, hasMore, gap: read.gap }
  }
  const { next, ended, gap } = read
  const hasMore = !ended && length >= mostBytes
  return { text: texts.text(), next, sequence, ended, hasMore, gap }
}

/** How much of a bit is shown: what there is room for, up to a line end or at least a character. */
function endOf({ bytes }: OutputBit, room: number, mayGoOn: boolean): number {
  if (bytes.length <= room) return mayGoOn ? endOfWholeText(bytes) : bytes.length
  const shown = bytes.subarray(0, room)
  const afterLine = shown.lastIndexOf(lineEnd) + 1
  return afterLine > room / 2 ? afterLine : endOfWholeText(shown)
}

function added(one: OutputPage["gap"], other: OutputPage["gap"]): OutputPage["gap"] {
  if (one === null || other === null) return one ?? other
  return { bytes: one.bytes + other.bytes, lines: one.lines + other.lines }
}
