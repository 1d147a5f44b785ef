/** A figure, and where there is one, what it is compared with in the same run. */
export type Figure = {
  what: string
  value: number
  unit: string
  floor?: number
  aim?: Aim
}

export type Aim = { is: "at least" | "at most" | "below"; limit: number; of: "floor" | "itself" }

/** What one part of the benchmark found, and for a reader, what it did. */
export type Measured = { about: string; figures: Figure[]; plots: Plot[] }

export type Plot = { file: string; title: string; svg: string }

const signs = { "at least": "≥", "at most": "≤", below: "<" }

export function timesFloor(is: "at least" | "at most", limit: number): Aim {
  return { is, limit, of: "floor" }
}

export function below(limit: number): Aim {
  return { is: "below", limit, of: "itself" }
}

/** As many times the floor. */
export function ratioOf({ value, floor }: Figure): number | null {
  return floor === undefined ? null : value / floor
}

export function aimText({ aim, unit }: Figure): string {
  if (aim === undefined) return ""
  return `${signs[aim.is]} ${aim.limit} ${aim.of === "floor" ? "× floor" : unit}`
}

/** Null where there is no aim. */
export function isReached(figure: Figure): boolean | null {
  if (figure.aim === undefined) return null
  const { is, limit, of } = figure.aim
  const measured = of === "floor" ? (ratioOf(figure) ?? Number.NaN) : figure.value
  if (is === "at least") return measured >= limit
  return is === "at most" ? measured <= limit : measured < limit
}
