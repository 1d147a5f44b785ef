import { harmless } from "../../lib/harmless-text.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { lineEnd } from "../../lib/vector/line-ends.ts"
import { AuditNote } from "../../protocol/audit-entry.ts"

/** A place in the chain: the next line continues it. */
export type Link = { number: number; hash: string }

/** What comes before the first line of all. */
export const origin: Link = { number: 0, hash: "0".repeat(64) }

const hashLength = 64
const beforeHash = ',"hash":"'
const afterHash = '"}'
const endLength = beforeHash.length + hashLength + afterHash.length
const end = /^,"hash":"([0-9a-f]{64})"\}$/

/** The line that comes after a link, with its line end, and the link that it is. */
export function nextLine(after: Link, note: AuditNote, time: string): { line: string; link: Link } {
  const number = after.number + 1
  // JSON leaves as they are what many a reader takes for a line end, and what acts on a terminal.
  const json = harmless(JSON.stringify({ number, time, ...AuditNote.parse(note) }))
  const body = json.slice(0, -1)
  const hash = hashOf(after.hash, body)
  return { line: `${body}${beforeHash}${hash}${afterHash}\n`, link: { number, hash } }
}

/** SHA-256 of the hash before, as it is written, and of the line up to its own. */
export function hashOf(previous: string, body: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(previous).update(body).digest("hex")
}

export type ReadLine = { body: Uint8Array; hash: string; number: number; json: object }

/** A line without its line end; null when it is none of this form. */
export function readLine(bytes: Uint8Array): ReadLine | null {
  if (bytes.length <= endLength) return null
  const body = bytes.subarray(0, bytes.length - endLength)
  const hash = end.exec(Buffer.from(bytes.subarray(body.length)).toString("latin1"))?.[1]
  if (hash === undefined) return null
  const json = parseObject(Buffer.from(bytes).toString("utf8"))
  if (json === null || !("number" in json) || typeof json.number !== "number") return null
  return { body, hash, number: json.number, json }
}

/** Whole lines, without their line ends, and what comes after the last of them. */
export function splitLines(bytes: Uint8Array): { lines: Uint8Array[]; rest: Uint8Array } {
  const lines: Uint8Array[] = []
  let start = 0
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, start)) {
    lines.push(bytes.subarray(start, at))
    start = at + 1
  }
  return { lines, rest: bytes.subarray(start) }
}

function parseObject(text: string): object | null {
  const value = tryParseJson(text)
  return typeof value === "object" ? value : null
}
