import type { z } from "zod"
import { fail, ok, type Result } from "../lib/result.ts"
import { brokenLine, placeOf, repeatedKey } from "./yaml-lines.ts"

/** Reads a file that a person has written. A failure names line and column, and what is wrong. */
export function readYaml<Value>(text: string, schema: z.ZodType<Value>): Result<Value, string> {
  const document = parse(text)
  if (!document.ok)
    return fail(
      at(
        brokenLine(text, (part) => parse(part).ok),
        document.failure,
      ),
    )
  const braces = /^[^#"']*:\s*\{/m.exec(text)
  if (braces !== null) {
    const line = text.slice(0, braces.index + braces[0].length).split("\n").length
    const column = (braces[0].split("\n").at(-1) ?? "").length
    return fail(at({ line, column }, "write each entry on its own line, without braces"))
  }
  const repeated = repeatedKey(text)
  if (repeated !== null) return fail(at(repeated, `${repeated.key} is listed twice`))
  const read = schema.safeParse(document.value ?? {})
  if (read.success) return ok(read.data)
  const { issues } = read.error
  // A misspelled key is also one that is missing: the former says more.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]
  if (issue === undefined) return fail(read.error.message)
  const name = issue.path.map(String).join(" → ")
  const problem = name === "" ? issue.message : `${name}: ${issue.message}`
  return fail(at(placeOf(text, [...issue.path, ...unknownKey(issue)]), problem))
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

function at({ line, column }: { line: number; column: number }, problem: string): string {
  return `line ${line}, column ${column}: ${problem}`
}
