import { maxPayloadBytes } from "../../../execution/record.ts"
import { unfinishedLength } from "../../../lib/utf8.ts"
import type { Cursor, ReadPosition } from "../ports.ts"

const version = "1"
const maxHeldBytes = 3 // a character of four bytes without its last

/**
 * `1.segment.offset.sequence.lines.inside`, in base 36; held bytes follow in hexadecimal if any.
 */
export function encodeCursor({ position, held }: Cursor): string {
  const { segment, offset, sequence, lines, inside } = position
  const numbers = [segment, offset, sequence, lines, inside].map((number) => number.toString(36))
  const text = [version, ...numbers].join(".")
  return held.stdout.length + held.stderr.length === 0
    ? text
    : `${text}.${hex(held.stdout)}.${hex(held.stderr)}`
}

/** Null for anything `encodeCursor` would not have written: a cursor comes back from a client. */
export function decodeCursor(text: string): Cursor | null {
  const parts = cursorPattern.exec(text)?.groups
  if (parts === undefined) return null
  const number = (name: string) => Number.parseInt(parts[name] ?? "", 36)
  const position = {
    segment: number("segment"),
    offset: number("offset"),
    sequence: number("sequence"),
    lines: number("lines"),
    inside: number("inside"),
  }
  const held = { stdout: unhex(parts["stdout"]), stderr: unhex(parts["stderr"]) }
  const cursor = { position, held }
  const isUnfinished = [held.stdout, held.stderr].every(
    (bytes) => unfinishedLength(bytes) === bytes.length,
  )
  const isOurs = isPossible(position) && isUnfinished && encodeCursor(cursor) === text
  return isOurs ? cursor : null
}

const numbersPattern = ["segment", "offset", "sequence", "lines", "inside"]
  .map((name) => `\\.(?<${name}>[0-9a-z]{1,11})`)
  .join("")
const heldPattern = `(?:[0-9a-f]{2}){0,${maxHeldBytes}}`
const cursorPattern = new RegExp(
  `^${version}${numbersPattern}(?:\\.(?<stdout>${heldPattern})\\.(?<stderr>${heldPattern}))?$`,
)

function isPossible({ segment, offset, sequence, lines, inside }: ReadPosition): boolean {
  return (
    segment <= 0xffff_ffff &&
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(sequence) &&
    lines <= sequence &&
    inside <= sequence &&
    inside < maxPayloadBytes
  )
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex")
}

function unhex(text: string | undefined): Uint8Array {
  return Uint8Array.from(Buffer.from(text ?? "", "hex"))
}
