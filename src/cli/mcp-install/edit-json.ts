import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  type Node as JsonNode,
} from "jsonc-parser/lib/esm/main.js"
import type { JsonText } from "./json-text.ts"

// The library's own `modify` either writes on one line or formats every line it touches, and puts
// a new member before a trailing comma and its comment. These edits touch nothing of what is there.

/** Text with one member set, and nothing else touched: not a space, not a comment. */
export function withMember(read: JsonText, path: readonly string[], value: unknown): string {
  const existing = findNodeAtLocation(read.root, [...path])
  if (existing !== undefined) return replaced(read, existing, value)
  let depth = path.length - 1
  let container = findNodeAtLocation(read.root, path.slice(0, depth))
  while (container === undefined) {
    depth -= 1
    container = findNodeAtLocation(read.root, path.slice(0, depth))
  }
  const [key, ...below] = path.slice(depth)
  const wrapped = below.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  return inserted(read, container, (render) => `${JSON.stringify(key)}: ${render(wrapped)}`)
}

export function withElement(read: JsonText, array: JsonNode, value: unknown): string {
  return inserted(read, array, (render) => render(value))
}

function replaced(read: JsonText, old: JsonNode, value: unknown): string {
  const { offset, length, parent: member = old } = old
  const content = rendering(read, indentAround(read.text, member.offset))(value)
  return applyEdits(read.text, [{ offset, length, content }])
}

type Render = (value: unknown) => string

function inserted(read: JsonText, container: JsonNode, write: (render: Render) => string): string {
  const { text } = read
  const close = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const isOnOneLine = !text.slice(container.offset, close).includes("\n")
  const lastEnd = last === undefined ? close : last.offset + last.length
  const hasTrailingComma = read.trailingCommas.some((at) => at >= lastEnd && at < close)
  const after = hasTrailingComma ? "," : ""
  // The comma goes right behind what it follows, before a comment at the end of that line.
  const comma = { offset: lastEnd, length: 0, content: "," }
  const separator = last === undefined || hasTrailingComma ? [] : [comma]
  const at = text.slice(0, close).trimEnd().length
  const withContent = (content: string) => {
    const edits: Edit[] = [...separator, { offset: at, length: 0, content }]
    return applyEdits(text, edits)
  }
  if (isOneLine(read) || (isOnOneLine && last !== undefined)) {
    return withContent(`${last === undefined ? "" : " "}${write(JSON.stringify)}${after}`)
  }
  const eol = lineEnd(text)
  const outer = indentAround(text, container.offset)
  const indent = (last && indentOf(text, last.offset)) ?? outer + unitOf(read)
  const member = `${eol}${indent}${write(rendering(read, indent))}${after}`
  const needsLineEnd = last === undefined && !/^\s*\n/.test(text.slice(at))
  return withContent(needsLineEnd ? `${member}${eol}${outer}` : member)
}

function rendering(read: JsonText, indent: string): Render {
  if (isOneLine(read)) return JSON.stringify
  const lineStart = `${lineEnd(read.text)}${indent}`
  return (value) => JSON.stringify(value, null, unitOf(read)).replaceAll("\n", lineStart)
}

/** A file that its client writes without line breaks, and not just an empty object. */
function isOneLine({ text, root }: JsonText): boolean {
  const isEmpty = root.children === undefined || root.children.length === 0
  return !isEmpty && !text.slice(root.offset, root.offset + root.length).includes("\n")
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n"
}

function unitOf({ text, root }: JsonText): string {
  const first = root.children?.[0]
  const indent = first === undefined ? null : indentOf(text, first.offset)
  return indent === null || indent === "" ? "  " : indent
}

/** What stands before a thing on its line; null when that is more than space. */
function indentOf(text: string, start: number): string | null {
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start)
  return before.trim() === "" ? before : null
}

function indentAround(text: string, start: number): string {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1)
  return /^[ \t]*/.exec(line)?.[0] ?? ""
}
