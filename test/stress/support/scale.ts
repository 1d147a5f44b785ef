/** `STRESS=long` asks for what takes hours rather than minutes. */
export const isLong = process.env["STRESS"] === "long"

/** What the chance of this run grows from: `STRESS_SEED` replays a run, else it is fresh. */
export const seed = readSeed(process.env["STRESS_SEED"])

function readSeed(text: string | undefined): number {
  if (text === undefined || text === "") return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const given = Number(text)
  if (!Number.isSafeInteger(given)) throw new Error(`STRESS_SEED is no whole number: ${text}`)
  return given
}
