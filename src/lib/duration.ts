const millisecondsPerUnit = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
])

/** Milliseconds; undefined for what is no duration. A number without a unit is in seconds. */
export function readDuration(text: string): number | undefined {
  return scaled(text, /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)?$/i, "s", millisecondsPerUnit)
}

/** A number with a unit, which is the second group of the pattern. */
export function scaled(
  text: string,
  pattern: RegExp,
  defaultUnit: string,
  units: ReadonlyMap<string, number>,
): number | undefined {
  const match = pattern.exec(text)
  const factor = units.get(match?.[2]?.toLowerCase() ?? defaultUnit)
  if (match === null || factor === undefined) return undefined
  const value = Math.round(Number(match[1]) * factor)
  return Number.isSafeInteger(value) ? value : undefined
}
