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

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
