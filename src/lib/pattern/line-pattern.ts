import { fail, ok, type Result } from "../result.ts"
import { lineEnd } from "../vector/line-ends.ts"
import { parsePattern } from "./parse-pattern.ts"
import { matchesNothing, sizeOf } from "./pattern-tree.ts"
import { matchingAutomaton } from "./position-automaton.ts"
import { nowhere, SubsetStates } from "./subset-states.ts"

const mostBytes = 2048

/**
 * Tells which lines a pattern matches; each byte of a line costs the same, whatever it says. `^`
 * and `$` are line ends, and a line lies between two of them.
 */
export class LinePattern {
  readonly #states: SubsetStates
  readonly #scans = new Set<LineScan>()

  constructor(states: SubsetStates) {
    this.#states = states
  }

  /** Of a line without its end. */
  matches(line: Uint8Array): boolean {
    const scan = this.begin()
    scan.push(line)
    return scan.end()
  }

  /** A line that comes in pieces; several may be under way at once. */
  begin(): LineScan {
    const scan = new LineScan(this.#states, {
      full: () => this.#forget(),
      over: () => this.#scans.delete(scan),
    })
    this.#scans.add(scan)
    return scan
  }

  /** States are numbers, made anew when there are too many: who holds one is told its new one. */
  #forget(): void {
    const sets = [...this.#scans].map(
      (scan) => [scan, this.#states.setOf(scan.state).slice()] as const,
    )
    this.#states.forget()
    for (const [scan, set] of sets) scan.state = this.#states.stateOf(set)
  }
}

export class LineScan {
  state: number
  readonly #states: SubsetStates
  readonly #tell: { full(): void; over(): void }
  #isMatch = false

  constructor(states: SubsetStates, tell: { full(): void; over(): void }) {
    this.#states = states
    this.#tell = tell
    this.state = nowhere
    this.#step(lineEnd)
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#isMatch) return
      this.#step(byte)
    }
  }

  /** Whether the line matches, which is over with this. */
  end(): boolean {
    if (!this.#isMatch) this.#step(lineEnd)
    this.#tell.over()
    return this.#isMatch
  }

  #step(byte: number): void {
    const states = this.#states
    this.state = states.step(this.state, states.kindOf[byte] ?? 0)
    this.#isMatch = states.isComplete[this.state] === 1
    if (states.isFull) this.#tell.full()
  }
}

export function compileLinePattern(text: string): Result<LinePattern, string> {
  const tree = parsePattern(text, "line")
  if (!tree.ok) return tree
  if (matchesNothing(tree.value)) {
    return fail("it matches the empty text, and so every line: make a part of it required")
  }
  const size = sizeOf(tree.value)
  if (size > mostBytes) {
    const written = `it is ${size} bytes long with its repetitions written out`
    return fail(`${written}; the maximum is ${mostBytes}`)
  }
  const automaton = matchingAutomaton([tree.value])
  if ("kind" in automaton) return fail("it has too many optional parts or alternatives")
  return ok(new LinePattern(new SubsetStates(automaton)))
}
