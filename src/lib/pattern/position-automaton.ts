import type { ByteSet } from "./byte-set.ts"
import type { PatternTree } from "./pattern-tree.ts"

/**
 * Glushkov's automaton: a position for every byte that the patterns name, with repetitions written
 * out. To be at a position means that its byte was the last one read; there are no empty moves.
 */
export type PositionAutomaton = {
  /** The byte of a match that may come first. */
  firsts: Uint16Array
  /** By position: what may come after it in the same match. */
  follows: readonly Uint16Array[]
  /** By position: 1 where a match may end. */
  isLast: Uint8Array
  sets: readonly ByteSet[]
  /** By position: the pattern it belongs to. */
  patterns: Uint16Array
  /** By position: how many bytes, at most, lead to it since the match was last complete. */
  undecided: Uint16Array
}

const mostFollowers = 200_000

export type TooLarge = { kind: "too-large"; pattern: number }
export type Unbounded = { kind: "unbounded"; pattern: number }

/** What can go wrong says which pattern it is. */
export function buildAutomaton(
  trees: readonly PatternTree[],
): PositionAutomaton | TooLarge | Unbounded {
  const automaton = matchingAutomaton(trees)
  if ("kind" in automaton) return automaton
  const undecided = undecidedBytes(automaton)
  if (undecided.kind === "cycle") {
    return { kind: "unbounded", pattern: automaton.patterns[undecided.position] ?? 0 }
  }
  return { ...automaton, undecided: undecided.bytes }
}

/** For whoever asks only whether something matches: nothing needs to be held back for that. */
export function matchingAutomaton(trees: readonly PatternTree[]): PositionAutomaton | TooLarge {
  const positions = new Positions()
  const firsts: number[] = []
  const isLast = new Set<number>()
  for (const [pattern, tree] of trees.entries()) {
    const piece = positions.add(tree, pattern)
    if (positions.followers > mostFollowers) return { kind: "too-large", pattern }
    firsts.push(...piece.firsts)
    for (const last of piece.lasts) isLast.add(last)
  }
  return {
    firsts: Uint16Array.from(firsts),
    follows: positions.follows.map((follow) => Uint16Array.from(follow)),
    isLast: Uint8Array.from(positions.sets, (_, at) => (isLast.has(at) ? 1 : 0)),
    sets: positions.sets,
    patterns: Uint16Array.from(positions.patterns),
    undecided: new Uint16Array(positions.sets.length),
  }
}

/** Of a part of a pattern: where it may begin and end, and whether it may be left out. */
type Piece = { firsts: readonly number[]; lasts: readonly number[]; isOptional: boolean }

const nothing: Piece = { firsts: [], lasts: [], isOptional: true }

class Positions {
  readonly sets: ByteSet[] = []
  readonly follows: Set<number>[] = []
  readonly patterns: number[] = []
  followers = 0

  add(tree: PatternTree, pattern: number): Piece {
    switch (tree.kind) {
      case "byte": {
        const at = this.sets.push(tree.set) - 1
        this.follows.push(new Set())
        this.patterns.push(pattern)
        return { firsts: [at], lasts: [at], isOptional: false }
      }
      case "sequence":
        return tree.parts.reduce<Piece>(
          (before, part) => this.#then(before, this.add(part, pattern)),
          nothing,
        )
      case "choice": {
        const options = tree.options.map((option) => this.add(option, pattern))
        return {
          firsts: options.flatMap(({ firsts }) => firsts),
          lasts: options.flatMap(({ lasts }) => lasts),
          isOptional: options.some(({ isOptional }) => isOptional),
        }
      }
      case "repeat":
        return this.#repeated(tree, pattern)
    }
  }

  /** `x{2,4}` is xx(x(x)?)?, in which every x has one follower; `x{2,}` is xx+. */
  #repeated(tree: PatternTree & { kind: "repeat" }, pattern: number): Piece {
    const copies = Array.from({ length: tree.max ?? Math.max(1, tree.min) }, () =>
      this.add(tree.part, pattern),
    )
    const last = copies.at(-1) ?? nothing
    if (tree.max === null) this.#link(last.lasts, last.firsts)
    return copies.reduceRight<Piece>((after, copy, at) => {
      const rest = this.#then(copy, after)
      return at < tree.min ? rest : { ...rest, isOptional: true }
    }, nothing)
  }

  #then(before: Piece, after: Piece): Piece {
    this.#link(before.lasts, after.firsts)
    return {
      firsts: before.isOptional ? [...before.firsts, ...after.firsts] : before.firsts,
      lasts: after.isOptional ? [...after.lasts, ...before.lasts] : after.lasts,
      isOptional: before.isOptional && after.isOptional,
    }
  }

  #link(froms: readonly number[], tos: readonly number[]): void {
    for (const from of froms) {
      if (this.followers > mostFollowers) return
      const follow = this.follows[from]
      for (const to of tos) follow?.add(to)
      this.followers += tos.length
    }
  }
}

type Graph = {
  firsts: Uint16Array
  follows: readonly Uint16Array[]
  isLast: Uint8Array
}

/**
 * For every position, the most bytes that can lead to it since the match was last complete, or
 * began: so many must be held until it is known whether they belong to a match. Where a match can
 * stay incomplete for ever there is no such number, and a position of the cycle is named.
 */
function undecidedBytes({
  firsts,
  follows,
  isLast,
}: Graph): { kind: "bounded"; bytes: Uint16Array } | { kind: "cycle"; position: number } {
  const bytes = new Uint16Array(follows.length)
  const waitsFor = new Uint32Array(follows.length)
  const reach = (to: number, before: number) => {
    if (isLast[to] !== 1) bytes[to] = Math.max(bytes[to] ?? 0, before + 1)
  }
  for (const first of firsts) reach(first, 0)
  for (const [from, follow] of follows.entries()) {
    for (const to of follow) {
      if (isLast[from] === 1) reach(to, 0)
      else waitsFor[to] = (waitsFor[to] ?? 0) + 1
    }
  }
  // Kahn's order: a position's number is final when those of all before it are.
  const isOpen = (at: number) => isLast[at] !== 1
  const final = [...follows.keys()].filter((at) => isOpen(at) && waitsFor[at] === 0)
  for (const from of final) {
    for (const to of follows[from] ?? []) {
      reach(to, bytes[from] ?? 0)
      waitsFor[to] = (waitsFor[to] ?? 0) - 1
      if (waitsFor[to] === 0 && isOpen(to)) final.push(to)
    }
  }
  const position = [...follows.keys()].find((at) => isOpen(at) && waitsFor[at] !== 0)
  return position === undefined ? { kind: "bounded", bytes } : { kind: "cycle", position }
}
