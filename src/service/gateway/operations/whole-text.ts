import { isUtf8 } from "node:buffer"
import { unfinishedLength } from "../../../lib/utf8.ts"

export type WholeText = {
  utf8: Uint8Array
  /** The bytes of a character that is not complete yet. */
  held: Uint8Array
  /** Replacement characters in the text that stand for invalid bytes. */
  lossy: number
}

const nothing = new Uint8Array(0)
const replacement = "\uFFFD"

/** Makes text of bytes that arrive in pieces: a split character waits for its rest. */
export function wholeText(
  held: Uint8Array,
  bytes: Uint8Array,
  mode: "more-may-follow" | "complete" = "more-may-follow",
): WholeText {
  const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
  const heldLength = mode === "complete" ? 0 : unfinishedLength(all)
  const whole = heldLength === 0 ? all : all.subarray(0, all.length - heldLength)
  // A copy: the piece's buffer belongs to the reader.
  const rest = heldLength === 0 ? nothing : all.slice(all.length - heldLength)
  return isUtf8(whole)
    ? { utf8: whole, held: rest, lossy: 0 }
    : { ...withReplacements(whole), held: rest }
}

function withReplacements(bytes: Uint8Array): Omit<WholeText, "held"> {
  const written = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const text = written.toString("utf8")
  return {
    utf8: Buffer.from(text),
    lossy: countReplacements(text) - countEncodedReplacements(written),
  }
}

function countReplacements(text: string): number {
  let count = 0
  for (let at = text.indexOf(replacement); at >= 0; at = text.indexOf(replacement, at + 1)) count++
  return count
}

/** Those that the child itself wrote: nothing was lost there. */
function countEncodedReplacements(bytes: Buffer): number {
  const encoded = Buffer.from(replacement)
  let count = 0
  for (let at = bytes.indexOf(encoded); at >= 0; at = bytes.indexOf(encoded, at + 3)) count++
  return count
}
