/** Waits for a fact, and fails with what was expected when it does not come in time. */
export async function until<Fact>(
  what: string,
  look: () => Fact | null | undefined | false | Promise<Fact | null | undefined | false>,
  limitMs = 50_000,
): Promise<Fact> {
  const deadline = performance.now() + limitMs
  while (true) {
    const fact = await look()
    if (fact !== null && fact !== undefined && fact !== false) return fact
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`)
    await Bun.sleep(10)
  }
}
