import {
  type ByteSet,
  bytesOf,
  digits,
  isEmpty,
  oneByte,
  spaces,
  union,
  without,
  wordBytes,
} from "./byte-set.ts"
import type { PatternText } from "./pattern-text.ts"

const namedSets: ReadonlyMap<string, ByteSet> = new Map([
  ["d", digits],
  ["D", without(digits)],
  ["w", wordBytes],
  ["W", without(wordBytes)],
  ["s", spaces],
  ["S", without(spaces)],
  ["n", oneByte(10)],
  ["r", oneByte(13)],
  ["t", oneByte(9)],
  ["f", oneByte(12)],
  ["v", oneByte(11)],
  ["0", oneByte(0)],
])

/** What stands behind a backslash: one byte, or a set that has a name. */
export function readEscape(source: PatternText): ByteSet {
  source.take("\\")
  const { next } = source
  if (next === "") throw source.problem("it ends in a backslash: write \\\\, or \\x20 for a space")
  const named = namedSets.get(next)
  if (named !== undefined) {
    source.take(next)
    return named
  }
  if (next === "x") {
    const hex = source.takeMatch(/x([0-9a-fA-F]{2})/y)
    if (hex === null) throw source.problem("\\x needs two hexadecimal digits, as in \\x1b")
    return oneByte(Number.parseInt(hex[1] ?? "", 16))
  }
  if (/[a-zA-Z1-9]/.test(next)) throw source.problem(unknownEscape(next))
  if (!isAscii(next)) throw source.problem(`${next} needs no backslash`)
  source.take(next)
  return oneByte(next.charCodeAt(0))
}

function unknownEscape(name: string): string {
  if (/[1-9k]/.test(name)) return `\\${name}: a pattern cannot refer back to what it matched`
  if (/[bBAzZG]/.test(name)) {
    return `\\${name} is a lookaround, which is not supported: write the bytes that must be there`
  }
  if (/[uUpP]/.test(name)) return `\\${name} is not known: write the character itself`
  return `\\${name} has no meaning here: write ${name}, or \\xHH for a byte`
}

/** `[…]`: single bytes, ranges, sets with names; with `^` all others. */
export function readClass(source: PatternText): ByteSet {
  source.take("[")
  const isNegated = source.take("^")
  const sets: ByteSet[] = []
  while (!source.take("]")) {
    sets.push(readRange(source))
  }
  // Before it is turned round: neither case of a letter is in the others.
  const all = source.cased(union(sets))
  if (sets.length === 0) throw source.problem("the class is empty: write \\[ or \\] for themselves")
  const set = isNegated ? without(all) : all
  if (isEmpty(set)) throw source.problem("no byte is in this class")
  return set
}

function readRange(source: PatternText): ByteSet {
  const first = readMember(source)
  const from = only(first)
  if (from === null || !source.take("-")) return first
  if (source.next === "]") return union([first, oneByte(45)]) // a hyphen at the end is itself
  const to = only(readMember(source))
  if (to === null) throw source.problem("a range ends in a single byte: put the set outside of it")
  if (to < from) throw source.problem("a range ends before it begins: turn it round")
  return bytesOf([from, to])
}

function readMember(source: PatternText): ByteSet {
  const { next } = source
  if (next === "") throw source.problem("a class is not closed: a `]` is missing")
  if (next === "\\") return readEscape(source)
  if (next === "[" && source.take("[:")) {
    throw source.problem("[:names:] are not supported: write \\d, \\w, \\s or a range")
  }
  if (!isAscii(next)) {
    throw source.problem(
      `a class contains single bytes, but ${next} is several: write (?:${next}|…) instead`,
    )
  }
  source.take(next)
  return oneByte(next.charCodeAt(0))
}

function only(set: ByteSet): number | null {
  const first = set.indexOf(1)
  return first === set.lastIndexOf(1) ? first : null
}

function isAscii(character: string): boolean {
  return character.charCodeAt(0) < 128
}
