type Counted = { success: number; failure: number }

/**
 * Fisher's exact test, two-sided: how likely a table is that is at most as likely as this one, if
 * both were equally good. The margins are taken as given.
 */
export function fisherExact(one: Counted, other: Counted): number {
  const tried = one.success + one.failure
  const successes = one.success + other.success
  const all = tried + other.success + other.failure
  const logs = logFactorials(all)
  const logChoose = (n: number, k: number) => (logs[n] ?? 0) - (logs[k] ?? 0) - (logs[n - k] ?? 0)
  const likelihood = (success: number) =>
    Math.exp(
      logChoose(tried, success) +
        logChoose(all - tried, successes - success) -
        logChoose(all, successes),
    )
  const seen = likelihood(one.success)
  let p = 0
  const least = Math.max(0, successes - (all - tried))
  for (let success = least; success <= Math.min(tried, successes); success += 1) {
    const each = likelihood(success)
    // Tables that are equally likely differ in their last digits.
    if (each <= seen * (1 + roundingError)) p += each
  }
  return Math.min(1, p)
}

const roundingError = 1e-7

function logFactorials(most: number): Float64Array {
  const logs = new Float64Array(most + 1)
  for (let n = 1; n <= most; n += 1) logs[n] = (logs[n - 1] ?? 0) + Math.log(n)
  return logs
}
