import type { z } from "zod"
import { fail, ok, type Result } from "../result.ts"
import { brokenLine, type Place, placeOf, repeatedKey } from "./yaml-lines.ts"

/** `line` and `column` are counted from 1. */
export type YamlFault = Place & { problem: string }

export type YamlForm = {
  braces: "allowed" | "refused" // `{a: 1}`, in which no place can be told
}

/** Reads a text that a person has written. A failure says where, and what is wrong. */
export function readYaml<Value>(
  text: string,
  schema: z.ZodType<Value>,
  { braces }: YamlForm,
): Result<Value, YamlFault> {
  const document = parse(text)
  if (!document.ok) {
    return fail({ ...brokenLine(text, (part) => parse(part).ok), problem: document.failure })
  }
  const refused = braces === "refused" ? firstBrace(text) : null
  if (refused !== null) {
    return fail({ ...refused, problem: "write each entry on its own line, without braces" })
  }
  const repeated = repeatedKey(text)
  if (repeated !== null) return fail({ ...repeated, problem: `${repeated.key} is listed twice` })
  const read = schema.safeParse(document.value ?? {})
  if (read.success) return ok(read.data)
  const { issues } = read.error
  // A misspelled key is also one that is missing: the former says more.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]
  if (issue === undefined) return fail({ line: 1, column: 1, problem: read.error.message })
  const name = issue.path.map(String).join(" → ")
  const problem = name === "" ? issue.message : `${name}: ${issue.message}`
  return fail({ ...placeOf(text, [...issue.path, ...unknownKey(issue)]), problem })
}

export function yamlFaultText({ line, column, problem }: YamlFault): string {
  return `line ${line}, column ${column}: ${problem}`
}

function firstBrace(text: string): Place | null {
  const braces = /^[^#"']*:\s*\{/m.exec(text)
  if (braces === null) return null
  const line = text.slice(0, braces.index + braces[0].length).split("\n").length
  return { line, column: (braces[0].split("\n").at(-1) ?? "").length }
}

function parse(text: string): Result<unknown, string> {
  try {
    return ok(Bun.YAML.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail(`${error.message}; an entry is for example \`name: value\``)
  }
}

/** An unknown key is told of whatever has it: the key itself is where to look. */
function unknownKey(issue: z.core.$ZodIssue): string[] {
  return issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : []
}
