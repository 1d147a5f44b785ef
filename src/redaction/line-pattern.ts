import { fail, ok, type Result } from "../execution/result.ts"
import { parsePattern } from "./parse-pattern.ts"
import { matchesNothing, sizeOf } from "./pattern-tree.ts"
import { matchingAutomaton } from "./position-automaton.ts"
import { nowhere, SubsetStates } from "./subset-states.ts"

const mostBytes = 2048
const lineEnd = 0x0a

/** Tells which lines a pattern matches; each byte of a line costs the same, whatever it says. */
export class LinePattern {
  readonly #states: SubsetStates

  constructor(states: SubsetStates) {
    this.#states = states
  }

  /** Of a line without its end. `^` and `$` are line ends, and a line lies between two of them. */
  matches(line: Uint8Array): boolean {
    let state = this.#step(nowhere, lineEnd)
    for (const byte of line) {
      if (this.#states.isComplete[state] === 1) return true
      state = this.#step(state, byte)
    }
    if (this.#states.isComplete[state] === 1) return true
    return this.#states.isComplete[this.#step(state, lineEnd)] === 1
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

export function compileLinePattern(text: string): Result<LinePattern, string> {
  const tree = parsePattern(text, { hasAnchors: true })
  if (!tree.ok) return tree
  if (matchesNothing(tree.value)) {
    return fail("it matches the empty text, which is in every line: make a part of it required")
  }
  const size = sizeOf(tree.value)
  if (size > mostBytes) {
    return fail(
      `it is ${size} bytes long with its repetitions written out; the most is ${mostBytes}`,
    )
  }
  const automaton = matchingAutomaton([tree.value])
  if ("kind" in automaton) return fail("it has too many optional parts or alternatives")
  return ok(new LinePattern(new SubsetStates(automaton)))
}
