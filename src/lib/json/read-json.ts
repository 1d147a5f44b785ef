import type { z } from "zod"
import { fail, ok, type Result } from "../result.ts"
import { type JsonNode, readJsonText, valueOf } from "./json-text.ts"

/** `line` and `column` are counted from 1. */
export type JsonFault = { line: number; column: number; problem: string }

export type ReadJson<Value> = { value: Value; root: JsonNode }

/** Reads a text that somebody has written. A failure has all that is wrong, in its order. */
export function readJson<Value>(
  text: string,
  schema: z.ZodType<Value>,
): Result<ReadJson<Value>, JsonFault[]> {
  const parsed = readJsonText(text)
  if (!parsed.ok) return fail([faultAt(text, parsed.failure.at, parsed.failure.problem)])
  const root = parsed.value
  const read = schema.safeParse(valueOf(root))
  if (read.success) return ok({ value: read.data, root })
  const faults = read.error.issues.map(({ path, message }) => {
    const name = path.map(String).join(" → ")
    const problem = name === "" ? message : `${name}: ${message}`
    return { at: startOf(root, path), problem }
  })
  const inOrder = faults.toSorted((one, other) => one.at - other.at)
  return fail(inOrder.map(({ at, problem }) => faultAt(text, at, problem)))
}

export function faultAt(text: string, at: number, problem: string): JsonFault {
  const before = text.slice(0, at).split("\n")
  return { line: before.length, column: charactersIn(before.at(-1) ?? "") + 1, problem }
}

export function jsonFaultText({ line, column, problem }: JsonFault): string {
  return `line ${line}, column ${column}: ${problem}`
}

/** Of what a path leads to, or of as much of it as is there. */
function startOf(node: JsonNode, path: readonly PropertyKey[]): number {
  const [step, ...rest] = path
  if (step === undefined) return node.start
  if (node.kind === "list") {
    const item = typeof step === "number" ? node.items[step] : undefined
    return item === undefined ? node.start : startOf(item, rest)
  }
  const member =
    node.kind === "object" ? node.members.find(({ key }) => key === String(step)) : undefined
  return member === undefined ? node.start : startOf(member.value, rest)
}

/** As editors count them: what takes two units of UTF-16 is one. */
function charactersIn(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)
}
