import { fail, ok, type Result } from "../result.ts"
import { lineEnd } from "../vector/line-ends.ts"
import { anyByte, oneByte, without } from "./byte-set.ts"
import { type PatternScope, PatternText, WrongPattern } from "./pattern-text.ts"
import type { PatternTree } from "./pattern-tree.ts"
import { readClass, readEscape } from "./read-bytes.ts"

const mostCharacters = 4096
const mostNested = 50
const mostRepeated = 10_000

/** Reads a pattern; what is wrong with one is said with the place, and what to write instead. */
export function parsePattern(
  text: string,
  scope: PatternScope = "anywhere",
): Result<PatternTree, string> {
  const source = new PatternText(text, scope)
  if (source.length > mostCharacters) {
    return fail(`it has ${source.length} characters; the maximum is ${mostCharacters}`)
  }
  try {
    const tree = readChoice(source, 0)
    if (!source.isAtEnd) return fail(source.problem("this `)` closes nothing: write \\)").message)
    return ok(tree)
  } catch (error) {
    if (!(error instanceof WrongPattern)) throw error
    return fail(error.message)
  }
}

function readChoice(source: PatternText, depth: number): PatternTree {
  if (depth > mostNested) throw source.problem(`groups are nested more than ${mostNested} deep`)
  const options = [readSequence(source, depth)]
  while (source.take("|")) options.push(readSequence(source, depth))
  const [only] = options
  return options.length === 1 && only !== undefined ? only : { kind: "choice", options }
}

function readSequence(source: PatternText, depth: number): PatternTree {
  const parts: PatternTree[] = []
  while (!source.isAtEnd && source.next !== "|" && source.next !== ")") {
    parts.push(readRepeated(source, readAtom(source, depth)))
  }
  return { kind: "sequence", parts }
}

function readAtom(source: PatternText, depth: number): PatternTree {
  const { next } = source
  if (next === "(") return readGroup(source, depth)
  if (next === "[") return { kind: "byte", set: readClass(source) }
  if (next === "\\") return { kind: "byte", set: source.cased(readEscape(source)) }
  if (next === "^" || next === "$") {
    if (source.scope === "line") {
      source.take(next)
      return { kind: "byte", set: oneByte(lineEnd) }
    }
    if (source.scope === "whole") {
      throw source.problem(
        `the whole text must match anyway: leave out \`${next}\`, or write \\${next} for itself`,
      )
    }
    throw source.problem(
      `\`${next}\` is not an anchor here, since a match may be anywhere: write \\${next}`,
    )
  }
  if (next === "{" || next === "*" || next === "+" || next === "?") {
    throw source.problem(
      `\`${next}\` has nothing to repeat before it: write \\${next} for the character itself`,
    )
  }
  source.take(next)
  if (next === ".") {
    const isAnyByte = source.scope === "whole"
    return { kind: "byte", set: isAnyByte ? anyByte : without(oneByte(lineEnd)) }
  }
  return literal(source, next)
}

/** A character is its bytes in UTF-8, and is repeated as a whole. */
function literal(source: PatternText, character: string): PatternTree {
  const parts = [...new TextEncoder().encode(character)].map(
    (byte): PatternTree => ({ kind: "byte", set: source.cased(oneByte(byte)) }),
  )
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : { kind: "sequence", parts }
}

function readGroup(source: PatternText, depth: number): PatternTree {
  const opened = source.problem("this group is not closed: a `)` is missing")
  source.take("(")
  if (source.next === "?" && !source.take("?:")) {
    throw source.problem("after `(?` only `:` is supported, and `(?i)` at the very beginning")
  }
  const inside = readChoice(source, depth + 1)
  if (!source.take(")")) throw opened
  return inside
}

function readRepeated(source: PatternText, part: PatternTree): PatternTree {
  const times = readTimes(source)
  if (times === null) return part
  if (source.next === "?" || source.next === "+" || source.next === "*" || source.next === "{") {
    throw source.problem(
      "two repetitions in a row, or a lazy one: every match is taken anyway; " +
        "leave out the second, or put the first into a group",
    )
  }
  return { kind: "repeat", part, ...times }
}

function readTimes(source: PatternText): { min: number; max: number | null } | null {
  if (source.take("?")) return { min: 0, max: 1 }
  if (source.take("*")) return { min: 0, max: null }
  if (source.take("+")) return { min: 1, max: null }
  if (source.next !== "{") return null
  const counts = source.takeMatch(/\{(\d{1,9})(,(\d{1,9})?)?\}/y)
  if (counts === null) {
    throw source.problem("write {3}, {3,} or {3,8} to repeat, and \\{ for the brace itself")
  }
  const [, from = "", range, to] = counts
  const min = Number(from)
  const max = range === undefined ? min : to === undefined ? null : Number(to)
  if (max !== null && max < min) throw source.problem(`{${min},${max}} ends before it begins`)
  if (Math.max(min, max ?? 0) > mostRepeated) {
    throw source.problem(`more than ${mostRepeated} repetitions`)
  }
  if (max === 0) throw source.problem("{0} is never there: leave it out")
  return { min, max }
}
