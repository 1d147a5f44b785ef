/** Numbers and times in the language of the browser. */

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const
const perUnit = 1000

export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= perUnit && unit < units.length - 1) {
    value /= perUnit
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  return new Intl.NumberFormat(undefined, {
    style: "unit",
    unit: units[unit] ?? "byte",
    unitDisplay: unit === 0 ? "long" : "short",
    maximumFractionDigits: digits,
  }).format(value)
}

export function rateText(bytesPerSecond: number): string {
  return `${bytesText(Math.round(bytesPerSecond))}/s`
}

const whole = new Intl.NumberFormat()

export function countText(count: number): string {
  return whole.format(count)
}

const money = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
})

export function costText(usd: number): string {
  return money.format(usd)
}

/** `4 s`, `12 min`, `3 h 20 min`: as much as helps at a glance. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return unitText(seconds, "second")
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return unitText(minutes, "minute")
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${unitText(hours, "hour")} ${unitText(minutes % 60, "minute")}`
  return unitText(Math.floor(hours / 24), "day")
}

function unitText(value: number, unit: "second" | "minute" | "hour" | "day"): string {
  return new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short" }).format(
    value,
  )
}

const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })

export function momentText(time: string): string {
  return dayAndTime.format(new Date(time))
}

export function clockText(time: string): string {
  return timeOfDay.format(new Date(time))
}
