import { type JsonNode, memberOf } from "../../../lib/json/json-text.ts"
import { lineEndOf } from "../lines.ts"

/** Another text between two offsets. */
type Edit = { start: number; end: number; text: string }

/**
 * Puts a member into an object, behind its others, in the place of what has that name already, or
 * takes it out where the value is null. All else in the text stays, byte for byte.
 */
export function memberEdits(text: string, node: JsonNode, key: string, value: unknown): Edit[] {
  if (node.kind !== "object") return []
  const there = memberOf(node, key)
  if (value === null) return there === null ? [] : removal(text, node, key)
  const written = onOneLine(value)
  if (there !== null) {
    const { start, end } = there.value
    return text.slice(start, end) === written ? [] : [{ start, end, text: written }]
  }
  const member = `${JSON.stringify(key)}: ${written}`
  const last = node.members.at(-1)
  if (last === undefined) return [{ start: node.start, end: node.end, text: `{ ${member} }` }]
  const indent = indentOf(text, last.start)
  const before = indent === null ? ", " : `,${lineEndOf(text)}${indent}`
  return [{ start: last.value.end, end: last.value.end, text: before + member }]
}

function removal(text: string, node: JsonNode & { kind: "object" }, key: string): Edit[] {
  const at = node.members.findIndex((member) => member.key === key)
  const member = node.members[at]
  if (member === undefined) return []
  const before = node.members[at - 1]
  if (before !== undefined) return [{ start: before.value.end, end: member.value.end, text: "" }]
  const next = node.members[at + 1]
  return [{ start: member.start, end: next?.start ?? member.value.end, text: "" }]
}

/** Null where something else stands before it in its line. */
function indentOf(text: string, at: number): string | null {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1
  const before = text.slice(lineStart, at)
  return /^[ \t]*$/.test(before) ? before : null
}

/** With blanks where a person would write them. */
function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  if (members.length === 0) return "{}"
  const written = members.map(([key, one]) => `${JSON.stringify(key)}: ${onOneLine(one)}`)
  return `{ ${written.join(", ")} }`
}
