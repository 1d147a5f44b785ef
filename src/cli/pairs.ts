import { UsageFailure } from "./failure.ts"

/** `name=value` pairs of an option that may be given more than once. */
export function readPairs(option: string, pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw new UsageFailure(`${option}: "${pair}" is not of the form NAME=VALUE.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}
