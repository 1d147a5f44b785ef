import type { HandedRedactor } from "../../execution/handover.ts"
import { countText } from "../../lib/count-text.ts"
import { parsePattern } from "../../lib/pattern/parse-pattern.ts"
import { matchesNothing, type PatternTree, sizeOf } from "../../lib/pattern/pattern-tree.ts"
import { buildAutomaton, type PositionAutomaton } from "../../lib/pattern/position-automaton.ts"
import { SubsetStates } from "../../lib/pattern/subset-states.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import {
  joined,
  newScratch,
  type Replacements,
  type Span,
  StreamRedactor,
} from "./stream-redactor.ts"

export type NamedPattern = { name: string | null; text: string }

/** Which of the patterns, by its place, and why it cannot be used. */
export type PatternProblem = { pattern: number; why: string }

const mostBytesOfOne = 2048
const mostBytesOfAll = 8192

/** The patterns, ready to be used on any number of streams at once. */
export class Redaction {
  readonly #states: SubsetStates
  readonly #replacements: Replacements
  readonly #scratch = newScratch()
  /** Names the patterns: two that have the same name take out the same. */
  readonly fingerprint: string

  constructor(automaton: PositionAutomaton, patterns: readonly NamedPattern[]) {
    this.fingerprint = JSON.stringify(patterns)
    this.#states = new SubsetStates(automaton)
    this.#replacements = patterns.map(replacementOf)
  }

  stream(handed?: HandedRedactor): StreamRedactor {
    const redactor = new StreamRedactor(this.#states, this.#replacements, this.#scratch)
    return handed === undefined ? redactor : redactor.restore(handed)
  }

  /** A text that is there as a whole. */
  text(text: string): { text: string; count: number } {
    const { words, count } = this.words([text])
    return { text: words[0] ?? text, count }
  }

  /**
   * Words that stand beside each other, as a command line's: a match may begin in one and end in
   * another. Each stays in its place; what is taken out is marked in the first it was in.
   */
  words(words: readonly string[]): { words: string[]; count: number } {
    const spans = this.#spansIn(words.join(" "))
    return { words: spans.length === 0 ? [...words] : cutOut(words, spans), count: spans.length }
  }

  #spansIn(text: string): Span[] {
    const spans: Span[] = []
    const redactor = new StreamRedactor(this.#states, this.#replacements, this.#scratch, spans)
    redactor.push(new TextEncoder().encode(text))
    redactor.end()
    return spans
  }
}

export function compileRedaction(
  patterns: readonly NamedPattern[],
): Result<Redaction, PatternProblem[]> {
  const trees: PatternTree[] = []
  const problems: PatternProblem[] = []
  for (const [pattern, { text }] of patterns.entries()) {
    const tree = usablePattern(text)
    if (tree.ok) trees.push(tree.value)
    else problems.push({ pattern, why: tree.failure })
  }
  if (problems.length > 0) return fail(problems)

  const size = trees.reduce((sum, tree) => sum + sizeOf(tree), 0)
  const automaton = size > mostBytesOfAll ? null : buildAutomaton(trees)
  if (automaton === null || "kind" in automaton) {
    const why = `all patterns together are too large: ${size} bytes with repetitions written out`
    return fail([{ pattern: patterns.length - 1, why: `${why}; the maximum is ${mostBytesOfAll}` }])
  }
  return ok(new Redaction(automaton, patterns))
}

function usablePattern(text: string): Result<PatternTree, string> {
  const tree = parsePattern(text)
  if (!tree.ok) return tree
  if (matchesNothing(tree.value)) {
    return fail("it matches the empty text, and so everything: make a part of it required")
  }
  const size = sizeOf(tree.value)
  if (size > mostBytesOfOne) {
    const written = `it is ${size} bytes long with its repetitions written out`
    return fail(`${written}; the maximum is ${mostBytesOfOne}: repeat less, or without a bound`)
  }
  const automaton = buildAutomaton([tree.value])
  if (!("kind" in automaton)) return tree
  return fail(
    automaton.kind === "too-large"
      ? "it has too many combinations: use fewer optional parts or alternatives"
      : "it can grow without limit before a match is certain, and that much cannot be held back: " +
          "bound the repetition, as in a.{0,200}b instead of a.*b, or leave out what follows it",
  )
}

function replacementOf({ name }: NamedPattern): Uint8Array {
  return new TextEncoder().encode(name === null ? "[redacted]" : `[redacted:${name}]`)
}

/** The words without the spans, which lie in the words' UTF-8 with one byte between two words. */
function cutOut(words: readonly string[], spans: readonly Span[]): string[] {
  let from = 0
  let next = 0 // the first span that does not end before this word
  return words.map((word) => {
    const bytes = new TextEncoder().encode(word)
    const to = from + bytes.length
    const pieces: Uint8Array[] = []
    let plain = from
    while (next < spans.length) {
      const span = spans[next]
      if (span === undefined || span.from >= to) break
      if (span.from > plain) pieces.push(bytes.subarray(plain - from, span.from - from))
      // Only in the first word that it touches; before that there is at most the space.
      if (span.from >= from - 1) pieces.push(span.replacement)
      plain = Math.max(plain, Math.min(to, span.to))
      if (span.to > to) break // it goes on in the next word
      next += 1
    }
    const isWhole = pieces.length === 0 && plain === from
    if (to > plain) pieces.push(bytes.subarray(plain - from))
    from = to + 1
    return isWhole ? word : new TextDecoder().decode(joined(pieces))
  })
}

const mostTold = 10

/**
 * Reads a file of patterns, one a line: `name = pattern`, or the pattern alone. Null when there is
 * none in it; else what is wrong, line by line.
 */
export function readPatternFile(text: string): Result<Redaction | null, string[]> {
  const lines = text
    .split("\n")
    .map((line, at) => ({ number: at + 1, text: line.trim() }))
    .filter(({ text: line }) => line !== "" && !line.startsWith("#"))
  if (lines.length === 0) return ok(null)

  const redaction = compileRedaction(lines.map(({ text: line }) => namedPattern(line)))
  if (redaction.ok) return redaction
  const told = redaction.failure
    .slice(0, mostTold)
    .map(({ pattern, why }) => `line ${lines[pattern]?.number ?? 0}: ${why}`)
  const untold = redaction.failure.length - told.length
  return fail(untold === 0 ? told : [...told, `and ${countText(untold, "more line")}`])
}

/** Only with spaces around its `=` is it a name: `password=\S+` is a pattern as it stands. */
function namedPattern(line: string): NamedPattern {
  const named = /^([A-Za-z][\w.-]{0,63})\s+=\s+(.+)$/.exec(line)
  const [, name = null, text = line] = named ?? []
  return { name, text }
}
