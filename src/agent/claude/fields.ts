/** An object of another program's making, of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>

const none: Fields = {}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : none
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null
}

/** Larger ones are of no use to anybody, and their sums would be infinite. */
const largest = 1e12

export function numberOf(value: unknown): number | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null
  return Math.min(Math.max(value, -largest), largest)
}

/** A count, whatever the agent makes of one: what is none would be refused with all beside it. */
export function countOf(value: unknown): number | null {
  const number = numberOf(value)
  return number === null ? null : Math.round(Math.max(number, 0))
}

/** Seconds since 1970 as a time; null for what is none. */
export function timeOf(value: unknown): string | null {
  const seconds = numberOf(value)
  if (seconds === null || seconds < 0 || seconds > lastSecond) return null
  return new Date(seconds * 1000).toISOString()
}

const lastSecond = Date.UTC(9999, 0) / 1000 // years of five figures have another form

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
