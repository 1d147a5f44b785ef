import type { StreamName } from "../../src/execution/record.ts"
import { hashInto } from "../../src/service/storage/transcript/chain.ts"
import {
  hashBytes,
  recordFieldBytes,
  writeRecordFields,
} from "../../src/service/storage/transcript/format.ts"

export type ForgedRecord = { stream: StreamName; text: string; sequence: number; timeMs: number }

/**
 * Output that has in it, behind some bytes, what a transcript looks like on disk: records that
 * continue each other, with hashes that fit. Answers where the first of them begins.
 */
export function forgedOutput(
  before: string,
  records: readonly ForgedRecord[],
  after = "",
): { bytes: Uint8Array; at: number } {
  const at = Buffer.byteLength(before) + hashBytes
  let chain = new Uint8Array(hashBytes).fill(0x2e)
  const parts: Uint8Array[] = [Buffer.from(before), chain]
  for (const { stream, text, sequence, timeMs } of records) {
    const payload = Buffer.from(text)
    const fields = new Uint8Array(recordFieldBytes)
    const lines = text.split("\n").length - 1
    const header = { kind: stream, length: payload.length, lines, sequence, timeMs }
    writeRecordFields(new DataView(fields.buffer), 0, header)
    const hash = new Uint8Array(hashBytes)
    hashInto(Buffer.concat([chain, fields, payload]), hash)
    parts.push(fields, payload, hash)
    chain = hash
  }
  parts.push(Buffer.from(after))
  return { bytes: Buffer.concat(parts), at }
}
