import type { Container, Item } from "./json-tree.ts"

/** Text with one thing put in, and nothing else touched: not a space, not a comment. */
export function withMember(
  text: string,
  root: Container,
  path: readonly [string, ...string[]],
  value: unknown,
): string {
  let container = root
  let [key, ...below] = path
  for (;;) {
    const item = container.items.find((candidate) => candidate.key === key)
    if (item === undefined) break
    const [next, ...rest] = below
    if (next === undefined) return replaced(text, root, item, value)
    if (item.value.kind !== "object") throw new Error(`${key} is no object`)
    container = item.value
    key = next
    below = rest
  }
  const wrapped = below.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  return inserted(text, root, container, (lines) => `${JSON.stringify(key)}: ${lines(wrapped)}`)
}

export function withElement(text: string, root: Container, array: Container, value: unknown) {
  return inserted(text, root, array, (lines) => lines(value))
}

function replaced(text: string, root: Container, item: Item, value: unknown): string {
  const lines = rendering(text, root, indentAround(text, item.start))
  return text.slice(0, item.value.start) + lines(value) + text.slice(item.value.end)
}

type Render = (value: unknown) => string

function inserted(
  text: string,
  root: Container,
  container: Container,
  write: (lines: Render) => string,
): string {
  const close = container.end - 1
  const last = container.items.at(-1)
  const isOnOneLine = !text.slice(container.start, container.end).includes("\n")
  const isEmpty = last === undefined
  const at = text.slice(0, close).trimEnd().length
  const head = last === undefined ? text.slice(0, at) : withComma(text, container, last, at)
  const tail = text.slice(at)
  const after = container.hasTrailingComma ? "," : ""
  if (isOneLine(text, root) || (isOnOneLine && !isEmpty)) {
    return `${head}${isEmpty ? "" : " "}${write(JSON.stringify)}${after}${tail}`
  }
  const eol = lineEnd(text)
  const outer = indentAround(text, container.start)
  const indent = (last && indentOf(text, last.start)) ?? outer + unitOf(text, root)
  const member = write(rendering(text, root, indent))
  const ending = /^\s*\n/.test(tail) ? "" : `${eol}${outer}`
  return `${head}${eol}${indent}${member}${after}${isEmpty ? ending : ""}${tail}`
}

/** The comma goes right behind what it follows, before a comment at the end of that line. */
function withComma(text: string, container: Container, last: Item, at: number): string {
  if (container.hasTrailingComma) return text.slice(0, at)
  return `${text.slice(0, last.value.end)},${text.slice(last.value.end, at)}`
}

function rendering(text: string, root: Container, indent: string): Render {
  if (isOneLine(text, root)) return JSON.stringify
  const eol = lineEnd(text)
  return (value) =>
    JSON.stringify(value, null, unitOf(text, root)).replaceAll("\n", `${eol}${indent}`)
}

/** A file that its client writes without line breaks, and not just an empty object. */
function isOneLine(text: string, root: Container): boolean {
  return root.items.length > 0 && !text.slice(root.start, root.end).includes("\n")
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n"
}

function unitOf(text: string, root: Container): string {
  const [first] = root.items
  const indent = first === undefined ? null : indentOf(text, first.start)
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
