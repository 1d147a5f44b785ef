import { getNodeValue, type Node as JsonNode } from "jsonc-parser/lib/esm/main.js"
import { withElement, withMember } from "./edit-json.ts"
import { type JsonText, readJsonText } from "./json-text.ts"
import type { Input, Merged, Wanted } from "./server-entry.ts"

export type MergeOptions = {
  /** Put the entry in the place of another one of its name. */
  readonly force: boolean
  /** Whether the client itself can read comments and trailing commas. */
  readonly comments: boolean
}

/** The whole file where there is none yet, and what is shown to people. */
export function jsonDocument({ root, name, entry, inputs }: Wanted): string {
  const document = { ...(inputs.length === 0 ? {} : { inputs }), [root]: { [name]: entry } }
  return `${JSON.stringify(document, null, 2)}\n`
}

const byteOrderMark = "\ufeff"

/** Puts one entry into a text and leaves every other byte of it as it was. */
export function mergeJson(text: string, wanted: Wanted, options: MergeOptions): Merged {
  if (/^\s*$/.test(text)) return { kind: "changed", text: jsonDocument(wanted) }
  if (!text.startsWith(byteOrderMark)) return mergeText(text, wanted, options)
  const merged = mergeText(text.slice(byteOrderMark.length), wanted, options)
  return merged.kind === "changed" ? { ...merged, text: byteOrderMark + merged.text } : merged
}

function mergeText(text: string, wanted: Wanted, options: MergeOptions): Merged {
  const read = readJsonText(text)
  if (!read.ok) {
    const { line, column, message } = read.failure
    return refused(`it is not valid JSON: line ${line}, column ${column}: ${message}`)
  }
  const { root, comments, trailingCommas } = read.value
  if (comments.length + trailingCommas.length > 0 && !options.comments) {
    const what = comments.length > 0 ? "comments" : "a trailing comma"
    return refused(`it has ${what}, but the client reads only plain JSON`)
  }
  if (root.type !== "object") return refused("it is not an object")
  const merged = withEntry(read.value, wanted, options.force)
  if (merged.kind === "refused" || merged.kind === "exists") return merged
  const asking = withInputs(text, merged, wanted.inputs)
  if (asking.kind === "changed") readAgain(asking.text)
  return asking
}

function withEntry(read: JsonText, wanted: Wanted, force: boolean): Merged {
  const servers = only(read.root, wanted.root)
  if (servers === "twice") return refused(`it has the key "${wanted.root}" twice`)
  if (servers !== null && servers.type !== "object") {
    return refused(`"${wanted.root}" is not an object`)
  }
  const old = servers === null ? null : only(servers, wanted.name)
  if (old === "twice") return refused(`it has the key "${wanted.name}" twice`)
  if (old !== null) {
    if (isSame(getNodeValue(old), wanted.entry)) return { kind: "unchanged" }
    if (!force) return { kind: "exists" }
    const end = old.offset + old.length
    if (read.comments.some((at) => at >= old.offset && at < end)) {
      return refused(`its entry "${wanted.name}" contains comments, which would be lost`)
    }
  }
  return { kind: "changed", text: withMember(read, [wanted.root, wanted.name], wanted.entry) }
}

/** Those that are asked for already stay as they are, in whatever words. */
function withInputs(before: string, merged: Merged, inputs: readonly Input[]): Merged {
  let text = merged.kind === "changed" ? merged.text : before
  for (const input of inputs) {
    const read = readAgain(text)
    const list = only(read.root, "inputs")
    if (list === "twice") return refused('it has the key "inputs" twice')
    if (list === null) text = withMember(read, ["inputs"], [input])
    else if (list.type !== "array") return refused('"inputs" is not a list')
    else if (!hasInput(list, input)) text = withElement(read, list, input)
  }
  return text === before ? { kind: "unchanged" } : { kind: "changed", text }
}

/** What was read once must be readable after an edit: else the edit is wrong. */
function readAgain(text: string): JsonText {
  const read = readJsonText(text)
  if (read.ok && read.value.root.type === "object") return read.value
  throw new Error("an edit has damaged a text; nothing was written")
}

function hasInput(list: JsonNode, { id }: Input): boolean {
  return (list.children ?? []).some((item) =>
    valuesAt(item, "id").some(({ value }) => value === id),
  )
}

function only(object: JsonNode, key: string): JsonNode | "twice" | null {
  const [first, second] = valuesAt(object, key)
  return second === undefined ? (first ?? null) : "twice"
}

/** Of an object's members of this name; nothing of anything else. */
function valuesAt(object: JsonNode, key: string): JsonNode[] {
  if (object.type !== "object") return []
  return (object.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    name?.value === key && value !== undefined ? [value] : [],
  )
}

/** The order of keys says nothing. */
function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other)
}

function refused(why: string): Merged {
  return { kind: "refused", why }
}
