import { z } from "zod"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { EntryValue, Merged, Wanted } from "./server-entry.ts"

const Table = z.record(z.string(), z.unknown())

/** The table where there is none yet, and what is shown to people. */
export function tomlDocument({ root, name, entry }: Wanted): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`)
  return [`[${root}.${name}]`, ...lines, ""].join("\n")
}

/** Puts one table at the end of a text, or in the place of an older one; all else stays. */
export function mergeToml(text: string, wanted: Wanted, options: { force: boolean }): Merged {
  const read = readToml(text)
  if (!read.ok) return refused(`it is not valid TOML: ${read.failure}`)
  const before = read.value
  const servers = Table.safeParse(before[wanted.root] ?? {})
  if (!servers.success) return refused(`"${wanted.root}" is not a table`)
  const old = servers.data[wanted.name]
  if (old !== undefined && isSame(old, wanted.entry)) return { kind: "unchanged" }
  if (old !== undefined && !options.force) return { kind: "exists" }
  const kept = old === undefined ? text : withoutTable(text, wanted)
  if (kept === null) {
    return refused(`its entry "${wanted.name}" contains comments, which would be lost`)
  }
  const after = withTable(kept, tomlDocument(wanted))
  // Tables can be written in ways that do not go together with another one: what came out says.
  const expected = { ...before, [wanted.root]: { ...servers.data, [wanted.name]: wanted.entry } }
  const reread = readToml(after)
  if (reread.ok && isSame(reread.value, expected)) return { kind: "changed", text: after }
  return refused(`its form of "${wanted.root}" does not allow another table`)
}

function readToml(text: string): Result<Record<string, unknown>, string> {
  try {
    return ok(Table.parse(Bun.TOML.parse(text.replace(/^\ufeff/, ""))))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail(error.message.replace(/^TOML Parse error: /, ""))
  }
}

function withTable(text: string, table: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  const lines = table.replaceAll("\n", eol)
  if (/^\s*$/.test(text)) return text + lines
  return `${text}${text.endsWith("\n") ? "" : eol}${eol}${lines}`
}

/** Without the table of that name and those below it; null where comments would go with them. */
function withoutTable(text: string, { root, name }: Wanted): string | null {
  const header = new RegExp(`^\\s*\\[\\s*${root}\\s*\\.\\s*(["']?)${name}\\1\\s*[.\\]]`)
  let isOurs = false
  const kept: string[] = []
  const removed: string[] = []
  for (const line of text.split("\n")) {
    if (/^\s*\[/.test(line)) isOurs = header.test(line)
    const lines = isOurs ? removed : kept
    lines.push(line)
  }
  return removed.some((line) => line.includes("#")) ? null : kept.join("\n")
}

/** What JSON writes is TOML too, save for one character. */
function tomlValue(value: EntryValue): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\x7f", "\\u007f")
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`
  const pairs = Object.entries(value).map(([key, text]) => `${key} = ${tomlValue(text)}`)
  return `{ ${pairs.join(", ")} }`
}

/** Times and the like are compared by what JSON makes of them. */
function isSame(one: unknown, other: unknown): boolean {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  return Bun.deepEquals(plain(one), plain(other))
}

function refused(why: string): Merged {
  return { kind: "refused", why }
}
