import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import { mostReadBytes, type OutputBit, readBits, sequenceInside } from "./output-bits.ts"
import type { McpScope } from "./ports.ts"
import { StreamTexts, startOfWholeText } from "./whole-characters.ts"

export type NewestOutput = {
  text: string
  /** Output bytes of both streams before the text. */
  sequence: number
  next: string
  ended: boolean
  /** The wanted lines were longer than what may be shown: their beginning is missing. */
  isCut: boolean
}

/** Lines may be megabytes long: so much of them is read to come to the end. */
const mostPages = 64

/** The last lines of output, and of those no more than so many bytes. */
export async function newestOutput(
  scope: McpScope,
  executionId: string,
  wanted: { lines: number; mostBytes: number; stream: StreamName | null },
): Promise<Result<NewestOutput, Failure>> {
  const kept: OutputBit[] = []
  let keptBytes = 0
  let isCut = false
  let at = `tail:${wanted.lines}`
  for (let pages = 1; ; pages++) {
    const request = { executionId, from: at, stream: wanted.stream, limitBytes: mostReadBytes }
    const read = await readBits(scope, request)
    if (!read.ok) return read
    const { bits, next, ended, isFull } = read.value
    kept.push(...bits)
    keptBytes += bits.reduce((sum, { bytes }) => sum + bytes.length, 0)
    while (keptBytes - (kept[0]?.bytes.length ?? 0) >= wanted.mostBytes && kept.length > 1) {
      keptBytes -= kept.shift()?.bytes.length ?? 0
      isCut = true
    }
    at = next
    if (ended || !isFull || pages >= mostPages) {
      return ok({ ...shown(kept, keptBytes - wanted.mostBytes, isCut), next, ended })
    }
  }
}

function shown(bits: readonly OutputBit[], surplus: number, isCut: boolean) {
  const texts = new StreamTexts()
  const [first] = bits
  let from = Math.max(0, surplus)
  if (from > 0 && first !== undefined) from += startOfWholeText(first.bytes.subarray(from))
  for (const [index, bit] of bits.entries()) {
    texts.add(bit.stream, index === 0 ? bit.bytes.subarray(from) : bit.bytes)
  }
  const sequence = first === undefined ? 0 : sequenceInside(first, from)
  return { text: texts.text(), sequence, isCut: isCut || from > 0 }
}
