import { escape, tablesEnd, writeTables } from "./json-escape.ts"
import { compile } from "./wasm.ts"

/** A text that goes into a JSON document as a string, between what comes before and after it. */
export function withJsonText(before: string, utf8: Uint8Array, after: string): string {
  escaper ??= createEscaper()
  const aroundBytes = (before.length + after.length) * mostBytesPerUnit
  const isFitting = utf8.length <= mostBytes && aroundBytes <= mostAroundBytes
  if (escaper === "unavailable" || !isFitting) {
    return before + JSON.stringify(textOf(utf8)) + after
  }
  return escaper(before, utf8, after)
}

const mostBytes = 65_536 + 64
const mostAroundBytes = 4096
const mostBytesPerUnit = 3 // of a string, in UTF-8
const longestSpelling = 6 // "\u001b"
const inputAt = tablesEnd
const outputAt = inputAt + mostBytes
const memoryBytes = outputAt + mostBytes * longestSpelling + mostAroundBytes + 64

type Escaper = (before: string, utf8: Uint8Array, after: string) => string
let escaper: Escaper | "unavailable" | undefined

function createEscaper(): Escaper | "unavailable" {
  const compiled = compile(escape, memoryBytes)
  if (compiled === null) return "unavailable" // JSON.stringify does it, three times slower
  const { run, memory } = compiled
  const bytes = Buffer.from(memory.buffer)
  writeTables(bytes)
  return (before, utf8, after) => {
    bytes.set(utf8, inputAt)
    let end = outputAt + bytes.write(`${before}"`, outputAt, "utf8")
    end = run(inputAt, inputAt + utf8.length, end)
    end += bytes.write(`"${after}`, end, "utf8")
    return bytes.toString("utf8", outputAt, end)
  }
}

function textOf(utf8: Uint8Array): string {
  return Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString("utf8")
}
