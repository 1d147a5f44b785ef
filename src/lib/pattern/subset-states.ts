import { NumberedSets } from "./numbered-sets.ts"
import { PairTable } from "./pair-table.ts"
import type { PositionAutomaton } from "./position-automaton.ts"
import { hasBit, PositionMoves } from "./position-moves.ts"

const mostStates = 4096
const mostPairs = 65_536

/** The state before anything that could begin a match. */
export const nowhere = 0

/**
 * Sets of positions, each made when it is first met and then known by a number: what text leads
 * to, and which of it leads on to the end of a match. Numbers hold until the next `forget`.
 */
export class SubsetStates {
  readonly positions: number
  /** By byte: bytes that no pattern tells apart have the same kind. */
  readonly kindOf: Uint8Array
  readonly kinds: number
  /** By byte: 1 where a match may begin with it. */
  readonly begins: Uint8Array
  /** By state and kind of byte: the next state, or -1 where it was never asked for. */
  table = new Int32Array(0)
  /** By state: 1 where a match is complete. */
  isComplete = new Uint8Array(0)
  readonly #automaton: PositionAutomaton
  readonly #moves: PositionMoves
  readonly #sets: NumberedSets
  readonly #alone = new PairTable()
  readonly #pairs = new PairTable()
  readonly #work: Int32Array
  #undecided: number[] = []
  #completed: number[] = []

  constructor(automaton: PositionAutomaton) {
    const { kindOf, kinds } = kindsOfBytes(automaton)
    const samples = Array.from({ length: kinds }, (_, kind) => kindOf.indexOf(kind))
    this.positions = automaton.sets.length
    this.kindOf = kindOf
    this.kinds = kinds
    this.begins = new Uint8Array(256).map((_, byte) =>
      automaton.firsts.some((first) => automaton.sets[first]?.[byte] === 1) ? 1 : 0,
    )
    this.#automaton = automaton
    this.#moves = new PositionMoves(automaton, samples)
    this.#sets = new NumberedSets(this.#moves.words)
    this.#work = new Int32Array(this.#moves.words)
    this.forget()
  }

  get isFull(): boolean {
    return this.#sets.size >= mostStates || this.#pairs.size >= mostPairs
  }

  forget(): void {
    this.table = new Int32Array(64 * this.kinds).fill(-1)
    this.isComplete = new Uint8Array(64)
    this.#sets.clear()
    this.#pairs.clear()
    this.#alone.clear()
    this.#undecided = []
    this.#completed = []
    this.stateOf(new Int32Array(this.#moves.words))
  }

  /** What a state is, to be found again after a `forget`. */
  setOf(state: number): Int32Array {
    return this.#sets.of(state)
  }

  stateOf(set: Int32Array): number {
    const known = this.#sets.size
    const state = this.#sets.numberOf(set)
    if (state < known) return state
    if (state >= this.isComplete.length) this.#makeRoom()
    const { lasts } = this.#moves
    this.isComplete[state] = set.some((bits, word) => (bits & (lasts[word] ?? 0)) !== 0) ? 1 : 0
    return state
  }

  /** How many of the last bytes may yet turn out to belong to a match. */
  undecided(state: number): number {
    const { undecided } = this.#automaton
    const most = () => Math.max(0, ...this.#positionsOf(state).map((at) => undecided[at] ?? 0))
    return (this.#undecided[state] ??= most())
  }

  /** The first of the patterns that is complete in this state; null where none is. */
  completes(state: number): number | null {
    if (this.isComplete[state] !== 1) return null
    const { isLast, patterns } = this.#automaton
    const last = () => this.#positionsOf(state).find((at) => isLast[at] === 1)
    return (this.#completed[state] ??= patterns[last() ?? 0] ?? 0)
  }

  /** Where a byte of the kind leads: what was under way, and a match that begins with it. */
  step(state: number, kind: number): number {
    const known = this.table[state * this.kinds + kind] ?? -1
    if (known >= 0) return known
    const next = this.#move(state, kind, true)
    this.table[state * this.kinds + kind] = next
    return next
  }

  /** The same without a beginning: only what was under way. */
  stepAlone(state: number, kind: number): number {
    const known = this.#alone.get(state, kind)
    if (known >= 0) return known
    const next = this.#move(state, kind, false)
    this.#alone.add(state, kind, next)
    return next
  }

  /**
   * Of the positions the text led to, those from which the match was, or will be, complete, given
   * those of the next place: twice the number of that set, and one more where a match goes on from
   * here to there.
   */
  back(state: number, later: number): number {
    const known = this.#pairs.get(state, later)
    if (known >= 0) return known
    const { words } = this.#moves
    const { bits } = this.#sets
    const goesOn = this.#moves.backward(bits, state * words, later * words, this.#work)
    const answer = this.stateOf(this.#work) * 2 + (goesOn ? 1 : 0)
    this.#pairs.add(state, later, answer)
    return answer
  }

  #move(state: number, kind: number, begins: boolean): number {
    const { bits } = this.#sets
    this.#moves.forward(bits, state * this.#moves.words, kind, begins, this.#work)
    return this.stateOf(this.#work)
  }

  #positionsOf(state: number): number[] {
    const from = state * this.#moves.words
    return [...this.#automaton.sets.keys()].filter((at) => hasBit(this.#sets.bits, from, at))
  }

  #makeRoom(): void {
    const isComplete = new Uint8Array(this.isComplete.length * 2)
    isComplete.set(this.isComplete)
    const table = new Int32Array(this.table.length * 2).fill(-1)
    table.set(this.table)
    this.isComplete = isComplete
    this.table = table
  }
}

/** Numbers the bytes by what tells them apart, so that the table is narrow. */
function kindsOfBytes({ sets }: PositionAutomaton): { kindOf: Uint8Array; kinds: number } {
  let kindOf = new Uint8Array(256)
  let kinds = 1
  const distinct = new Map(sets.map((set) => [set.join(""), set]))
  for (const set of distinct.values()) {
    const split = new Map<number, number>()
    kindOf = kindOf.map((kind, byte) => {
      const both = kind * 2 + (set[byte] ?? 0)
      const number = split.get(both) ?? split.size
      split.set(both, number)
      return number
    })
    kinds = split.size
  }
  return { kindOf, kinds }
}
