import { fail, ok, type Result } from "../result.ts"
import { oneByte } from "./byte-set.ts"
import { parsePattern } from "./parse-pattern.ts"
import { type PatternTree, sizeOf } from "./pattern-tree.ts"
import { matchingAutomaton } from "./position-automaton.ts"
import { nowhere, SubsetStates } from "./subset-states.ts"

/** Few enough that a pattern is ready at once, also in a process that must not stand still. */
const mostBytes = 400

/** Neither occurs in UTF-8: they stand for the beginning and the end of a text. */
const begin = 0xfe
const end = 0xff

const encoder = new TextEncoder()

/** Whether a pattern matches a text as a whole; each byte costs the same, whatever it says. */
export class WholePattern {
  readonly #states: SubsetStates

  constructor(states: SubsetStates) {
    this.#states = states
  }

  matches(text: string): boolean {
    let state = this.#step(nowhere, begin)
    for (const byte of encoder.encode(text)) state = this.#step(state, byte)
    return this.#states.isComplete[this.#step(state, end)] === 1
  }

  #step(state: number, byte: number): number {
    const states = this.#states
    const next = states.step(state, states.kindOf[byte] ?? 0)
    if (!states.isFull) return next
    const set = states.setOf(next).slice()
    states.forget()
    return states.stateOf(set)
  }
}

/** Reads a pattern; a failure says what is wrong with it, and where. */
export function compileWholePattern(text: string): Result<WholePattern, string> {
  const tree = readWholePattern(text)
  if (!tree.ok) return tree
  const automaton = matchingAutomaton([between(tree.value)])
  if ("kind" in automaton) return fail("it has too many optional parts or alternatives")
  return ok(new WholePattern(new SubsetStates(automaton)))
}

/** The same without making it ready, which takes far longer. */
export function readWholePattern(text: string): Result<PatternTree, string> {
  const tree = parsePattern(text, "whole")
  if (!tree.ok) return tree
  const size = sizeOf(tree.value)
  if (size <= mostBytes) return tree
  const written = `it is ${size} bytes long with its repetitions written out`
  return fail(`${written}; the maximum is ${mostBytes}`)
}

function between(tree: PatternTree): PatternTree {
  const edge = (byte: number): PatternTree => ({ kind: "byte", set: oneByte(byte) })
  return { kind: "sequence", parts: [edge(begin), tree, edge(end)] }
}
