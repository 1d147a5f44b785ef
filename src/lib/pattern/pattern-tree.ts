import type { ByteSet } from "./byte-set.ts"

/** What a pattern says, read: over bytes, without anything that looks around or back. */
export type PatternTree =
  | { kind: "byte"; set: ByteSet }
  | { kind: "sequence"; parts: readonly PatternTree[] }
  | { kind: "choice"; options: readonly PatternTree[] }
  | { kind: "repeat"; part: PatternTree; min: number; max: number | null }

/** How many bytes a pattern names, every repetition written out: the size of its automaton. */
export function sizeOf(tree: PatternTree): number {
  switch (tree.kind) {
    case "byte":
      return 1
    case "sequence":
      return tree.parts.reduce((sum, part) => sum + sizeOf(part), 0)
    case "choice":
      return tree.options.reduce((sum, option) => sum + sizeOf(option), 0)
    case "repeat":
      return sizeOf(tree.part) * (tree.max ?? Math.max(1, tree.min))
  }
}

export function matchesNothing(tree: PatternTree): boolean {
  switch (tree.kind) {
    case "byte":
      return false
    case "sequence":
      return tree.parts.every(matchesNothing)
    case "choice":
      return tree.options.some(matchesNothing)
    case "repeat":
      return tree.min === 0 || matchesNothing(tree.part)
  }
}
