/** Figures as people read them: three digits that matter, thousands apart. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString("en", { maximumFractionDigits: digits })
}

export function duration(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
