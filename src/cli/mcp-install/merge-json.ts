import { withElement, withMember } from "./edit-json.ts"
import { type Container, type JsonNode, readJsonTree, valueOf } from "./json-tree.ts"
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

/** Puts one entry into a text and leaves every other byte of it as it was. */
export function mergeJson(text: string, wanted: Wanted, options: MergeOptions): Merged {
  if (/^\s*$/.test(text)) return { kind: "changed", text: jsonDocument(wanted) }
  const read = readJsonTree(text)
  if (!read.ok) {
    const { line, column, message } = read.failure
    return refused(`it is not valid JSON: line ${line}, column ${column}: ${message}`)
  }
  const { root, hasComments, hasTrailingCommas } = read.value
  if ((hasComments || hasTrailingCommas) && !options.comments) {
    const what = hasComments ? "comments" : "a comma too many"
    return refused(`it has ${what}, and the client reads only plain JSON`)
  }
  if (root.kind !== "object") return refused("it holds something else than an object")
  const merged = withEntry(text, root, wanted, options.force)
  if (merged.kind === "refused" || merged.kind === "exists") return merged
  const asking = withInputs(text, merged, wanted.inputs)
  if (asking.kind === "changed") rootOf(asking.text)
  return asking
}

function withEntry(text: string, root: Container, wanted: Wanted, force: boolean): Merged {
  const servers = only(root, wanted.root)
  if (servers === "twice") return refused(`it has the key "${wanted.root}" twice`)
  if (servers !== null && servers.kind !== "object") {
    return refused(`"${wanted.root}" holds something else than an object`)
  }
  const old = servers === null ? null : only(servers, wanted.name)
  if (old === "twice") return refused(`it has the key "${wanted.name}" twice`)
  if (old !== null) {
    if (isSame(valueOf(old), wanted.entry)) return { kind: "unchanged" }
    if (!force) return { kind: "exists" }
    if (holdsComments(text.slice(old.start, old.end))) {
      return refused(`its entry "${wanted.name}" has comments in it, which would be lost`)
    }
  }
  return { kind: "changed", text: withMember(text, root, [wanted.root, wanted.name], wanted.entry) }
}

/** Those that are asked for already stay as they are, in whatever words. */
function withInputs(before: string, merged: Merged, inputs: readonly Input[]): Merged {
  let text = merged.kind === "changed" ? merged.text : before
  for (const input of inputs) {
    const root = rootOf(text)
    const list = only(root, "inputs")
    if (list === "twice") return refused('it has the key "inputs" twice')
    if (list === null) text = withMember(text, root, ["inputs"], [input])
    else if (list.kind !== "array") return refused('"inputs" holds something else than a list')
    else if (!hasInput(list, input)) text = withElement(text, root, list, input)
  }
  return text === before ? { kind: "unchanged" } : { kind: "changed", text }
}

/** What was read once must be readable after an edit: else the edit is wrong. */
function rootOf(text: string): Container {
  const read = readJsonTree(text)
  if (read.ok && read.value.root.kind === "object") return read.value.root
  throw new Error("an edit has damaged a text; nothing was written")
}

function hasInput(list: Container, { id }: Input): boolean {
  return list.items.some(
    ({ value }) =>
      value.kind === "object" &&
      value.items.some((item) => item.key === "id" && valueOf(item.value) === id),
  )
}

function only(container: Container, key: string): JsonNode | "twice" | null {
  const [first, second] = container.items.filter((item) => item.key === key)
  if (second !== undefined) return "twice"
  return first?.value ?? null
}

function holdsComments(text: string): boolean {
  const read = readJsonTree(text)
  return !read.ok || read.value.hasComments
}

/** The order of keys says nothing. */
function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other)
}

function refused(why: string): Merged {
  return { kind: "refused", why }
}
