import { type ByteSet, inBothCases } from "./byte-set.ts"

/** Thrown inside the reading of a pattern only, where every step may find it wrong. */
export class WrongPattern extends Error {}

/**
 * What a pattern is held against: a match may be anywhere in a stream; or in one line, where `^`
 * and `$` are its ends; or it is the whole text, line ends included.
 */
export type PatternScope = "anywhere" | "line" | "whole"

export class PatternText {
  readonly #text: string
  readonly #isCaseless: boolean
  readonly scope: PatternScope
  #at = 0

  constructor(text: string, scope: PatternScope) {
    this.#text = text
    this.scope = scope
    this.#isCaseless = this.take("(?i)")
  }

  get length(): number {
    return this.#text.length
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** The next character, whole also outside the basic plane; empty at the end. */
  get next(): string {
    const point = this.#text.codePointAt(this.#at)
    return point === undefined ? "" : String.fromCodePoint(point)
  }

  /** Goes past the expected text if it is what comes next. */
  take(expected: string): boolean {
    const isNext = expected !== "" && this.#text.startsWith(expected, this.#at)
    if (isNext) this.#at += expected.length
    return isNext
  }

  /** The same for a sticky expression. */
  takeMatch(expected: RegExp): RegExpExecArray | null {
    expected.lastIndex = this.#at
    const match = expected.exec(this.#text)
    if (match !== null) this.#at += match[0].length
    return match
  }

  /** What these bytes stand for: letters in both cases after `(?i)`. */
  cased(set: ByteSet): ByteSet {
    return this.#isCaseless ? inBothCases(set) : set
  }

  problem(what: string): WrongPattern {
    return new WrongPattern(`at character ${this.#at + 1}: ${what}`)
  }
}
