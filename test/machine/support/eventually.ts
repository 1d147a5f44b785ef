import { until } from "../../support/until.ts"

/** Programs are slow in a machine of software, the more so where its host is busy. */
const factMs = 600_000

/** Waits for a fact of the machine. */
export function eventually<Fact>(
  what: string,
  look: () => Promise<Fact | null | false>,
): Promise<Fact> {
  return until(what, look, factMs)
}
