import type { PositionAutomaton } from "./position-automaton.ts"

/**
 * Moves whole sets of positions at once, as bits. Most positions are followed by their neighbour,
 * so most of a move is a shift; only what else follows is gone through one by one.
 */
export class PositionMoves {
  readonly words: number
  readonly lasts: Int32Array
  readonly #firsts: Int32Array
  readonly #none: Int32Array
  /** Where the neighbour follows; where others do, and which. */
  readonly #toNeighbour: Int32Array
  readonly #toOthers: Int32Array
  readonly #others: readonly Uint16Array[]
  /** By kind of byte: the positions that take it. */
  readonly #taking: readonly Int32Array[]

  constructor({ firsts, follows, isLast, sets }: PositionAutomaton, samples: readonly number[]) {
    this.words = Math.ceil(sets.length / 32)
    const bitsOf = (has: (at: number) => boolean) => {
      const bits = new Int32Array(this.words)
      for (const at of sets.keys()) if (has(at)) setBit(bits, at)
      return bits
    }
    this.#others = follows.map((follow, at) => follow.filter((to) => to !== at + 1))
    this.#toNeighbour = bitsOf((at) => follows[at]?.includes(at + 1) === true)
    this.#toOthers = bitsOf((at) => this.#others[at]?.length !== 0)
    this.#taking = samples.map((byte) => bitsOf((at) => sets[at]?.[byte] === 1))
    this.#none = new Int32Array(this.words)
    this.#firsts = this.#none.slice()
    for (const first of firsts) setBit(this.#firsts, first)
    this.lasts = bitsOf((at) => isLast[at] === 1)
  }

  /** Where a byte of the kind leads from the set at this place, and from a new beginning if so. */
  forward(bits: Int32Array, from: number, kind: number, begins: boolean, next: Int32Array): void {
    next.set(begins ? this.#firsts : this.#none)
    let carried = 0
    for (let word = 0; word < this.words; word++) {
      const set = bits[from + word] ?? 0
      const moved = set & (this.#toNeighbour[word] ?? 0)
      next[word] = (next[word] ?? 0) | (moved << 1) | carried
      carried = moved >>> 31
      let rest = set & (this.#toOthers[word] ?? 0)
      while (rest !== 0) {
        const bit = 31 - Math.clz32(rest)
        rest ^= 1 << bit
        for (const to of this.#others[word * 32 + bit] ?? []) setBit(next, to)
      }
    }
    const taking = this.#taking[kind] ?? this.#none
    for (let word = 0; word < this.words; word++)
      next[word] = (next[word] ?? 0) & (taking[word] ?? 0)
  }

  /**
   * Of one set, the positions where a match is complete or that lead on into the later one; answers
   * whether any leads on.
   */
  backward(bits: Int32Array, from: number, later: number, kept: Int32Array): boolean {
    let anyLeadsOn = 0
    for (let word = 0; word < this.words; word++) {
      const set = bits[from + word] ?? 0
      const inNext = word + 1 < this.words ? (bits[later + word + 1] ?? 0) : 0
      const ahead = ((bits[later + word] ?? 0) >>> 1) | (inNext << 31)
      let leadsOn = set & ahead & (this.#toNeighbour[word] ?? 0)
      let rest = set & (this.#toOthers[word] ?? 0) & ~leadsOn
      while (rest !== 0) {
        const bit = 31 - Math.clz32(rest)
        rest ^= 1 << bit
        const others = this.#others[word * 32 + bit] ?? []
        if (others.some((to) => hasBit(bits, later, to))) leadsOn |= 1 << bit
      }
      kept[word] = leadsOn | (set & (this.lasts[word] ?? 0))
      anyLeadsOn |= leadsOn
    }
    return anyLeadsOn !== 0
  }
}

function setBit(bits: Int32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31))
}

export function hasBit(bits: Int32Array, from: number, at: number): boolean {
  return ((bits[from + (at >>> 5)] ?? 0) & (1 << (at & 31))) !== 0
}
