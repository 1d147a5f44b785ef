export type Interval = { low: number; high: number }

const z95 = 1.959963984540054

/** Wilson's 95 % interval of the share of successes; everything where nothing was counted. */
export function wilsonInterval(success: number, failure: number): Interval {
  const n = success + failure
  if (n === 0) return { low: 0, high: 1 }
  const share = success / n
  const z2 = z95 * z95
  const center = (share + z2 / (2 * n)) / (1 + z2 / n)
  const half = (z95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n))
  // At the ends, rounding would leave a share that was seen outside.
  return {
    low: success === 0 ? 0 : Math.max(0, center - half),
    high: failure === 0 ? 1 : Math.min(1, center + half),
  }
}
