/**
 * How much of everything: `short` fits into `npm test`, `full` is what `npm run test:all` asks for,
 * and `STRESS=long` takes hours.
 */
export const scale = readScale(process.env["STRESS"])

export function byScale<Value>(values: { short: Value; full: Value; long: Value }): Value {
  return values[scale]
}

/** Variants of one thing: the first few in a short run, all of them in every other. */
export function fewIfShort<Variant>(few: number, variants: readonly Variant[]): Variant[] {
  return variants.slice(0, byScale({ short: few, full: variants.length, long: variants.length }))
}

/** For tests that run for long, and repeat with the real thing what shorter tests prove. */
export const onlyInFull = byScale({ short: "part of npm run test:all", full: null, long: null })

/** What the chance of this run grows from: `STRESS_SEED` replays a run, else it is fresh. */
export const seed = readSeed(process.env["STRESS_SEED"])

function readScale(text = ""): "short" | "full" | "long" {
  if (text === "" || text === "short") return "short"
  if (text === "full" || text === "long") return text
  throw new Error(`STRESS must be short, full or long, not ${text}`)
}

function readSeed(text = ""): number {
  if (text === "") return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const given = Number(text)
  if (!Number.isSafeInteger(given)) throw new Error(`STRESS_SEED is no whole number: ${text}`)
  return given
}
