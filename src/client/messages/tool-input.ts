import { z } from "zod"

const Fields = z.record(z.string(), z.unknown())

/** What a tool is used with, by name. */
export function inputFields(input: unknown): Record<string, unknown> {
  const read = Fields.safeParse(input)
  return read.success ? read.data : {}
}

/** By tool, the fields that say what a call is about. */
const essential: Readonly<Record<string, readonly string[]>> = {
  Bash: ["command"],
  Read: ["file_path"],
  Write: ["file_path"],
  Edit: ["file_path"],
  MultiEdit: ["file_path"],
  NotebookEdit: ["notebook_path"],
  Glob: ["pattern", "path"],
  Grep: ["pattern", "path"],
  WebFetch: ["url"],
  WebSearch: ["query"],
  Task: ["description"],
  Agent: ["description"],
  Skill: ["skill", "args"],
}

/** More than a line would never be shown. */
const mostCharacters = 500

/** What a call is about, on one line. */
export function toolEssence(tool: string, input: unknown): string {
  const fields = inputFields(input)
  const known = (essential[tool] ?? []).flatMap((name) => textField(fields, name))
  const text = known.length > 0 ? known.join(" ") : jsonText(input)
  return text.slice(0, mostCharacters).replace(/\s+/g, " ").trim()
}

export function textField(fields: Record<string, unknown>, name: string): string[] {
  const value = fields[name]
  return typeof value === "string" ? [value] : []
}

function jsonText(input: unknown): string {
  const text = JSON.stringify(input) ?? ""
  return text === "{}" || text === "null" ? "" : text
}
