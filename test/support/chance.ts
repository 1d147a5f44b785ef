/** A number from nothing up to a bound, which it never reaches: see `seededRandom`. */
export type Chance = (below: number) => number

export function oneOf<Value>(
  chance: Chance,
  [first, ...others]: readonly [Value, ...Value[]],
): Value {
  const at = chance(others.length + 1)
  return at === 0 ? first : (others[at - 1] ?? first)
}

export function someBytes(chance: Chance, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => chance(256))
}
