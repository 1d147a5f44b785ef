import { aimText, type Figure, isReached, ratioOf } from "./figure.ts"
import { rounded } from "./statistics.ts"

export type FigureRow = {
  what: string
  value: string
  floor: string
  "× floor": string
  aim: string
  reached: string
}

/** Figures side by side with their floors and aims, as they are printed and as they are kept. */
export function figureTable(figures: readonly Figure[]): FigureRow[] {
  return figures.map((figure) => {
    const { what, value, unit, floor } = figure
    const ratio = ratioOf(figure)
    return {
      what,
      value: `${rounded(value)} ${unit}`,
      floor: floor === undefined ? "" : `${rounded(floor)} ${unit}`,
      "× floor": ratio === null ? "" : String(rounded(ratio)),
      aim: aimText(figure),
      reached: reachedText(figure),
    }
  })
}

function reachedText(figure: Figure): string {
  const reached = isReached(figure)
  if (reached === null) return ""
  return reached ? "yes" : "no"
}
