import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import {
  mostReadBytes,
  type OutputBit,
  type OutputBits,
  placeInside,
  readBits,
  sequenceInside,
} from "./output-bits.ts"
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
  // What is wanted of one stream may lie behind much of the other.
  const limitBytes = stream === null ? mostBytes : mostReadBytes
  let at = from
  let gap: OutputPage["gap"] = null
  for (let pages = 1; ; pages++) {
    const read = await readBits(scope, { executionId, from: at, stream, limitBytes })
    if (!read.ok) return read
    const page = pageOf(read.value, mostBytes)
    gap = added(gap, page.gap)
    const isDone = page.text !== "" || page.ended || !page.hasMore
    if (isDone || pages >= mostPassedPages) return ok({ ...page, gap })
    at = page.next
  }
}

function pageOf({ bits, gap, next, sequence, ended, isFull }: OutputBits, mostBytes: number) {
  const texts = new StreamTexts()
  let room = mostBytes
  for (const [index, bit] of bits.entries()) {
    const isLast = index === bits.length - 1
    const mayGoOn = isLast && !ended
    const whole = endOf(bit, room, mayGoOn)
    // The rest of a character that comes only after so much of the other stream is given up.
    const end = whole === 0 && mayGoOn && isFull ? bit.bytes.length : whole
    texts.add(bit.stream, bit.bytes.subarray(0, end))
    room -= end
    if (end === bit.bytes.length) continue
    // What is left is either too much for this page, or the beginning of a character.
    const hasMore = isFull || !isLast || bit.bytes.length - end > 3
    return { text: texts.text(), ...placeAt(bit, end), ended: false, hasMore, gap }
  }
  return {
    text: texts.text(),
    next,
    sequence: sequence ?? 0,
    ended,
    hasMore: isFull && !ended,
    gap,
  }
}

function placeAt(bit: OutputBit, bytes: number): { next: string; sequence: number } {
  return { next: placeInside(bit, bytes), sequence: sequenceInside(bit, bytes) }
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
