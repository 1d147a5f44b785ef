import type { Compared, Comparison } from "../../workflow/run/compare-prompts.ts"
import type { Context } from "../context.ts"
import { coloursFor } from "../terminal/colours.ts"
import { renderTable } from "../terminal/table.ts"
import type { Text } from "../terminal/terminal-text.ts"
import { percent } from "./status-text.ts"

/** What a comparison has shown, and what it has not. */
export function comparisonText(context: Context, comparison: Comparison): Text[] {
  const { cyan } = coloursFor(context.stdout, context.env)
  const hasCost = comparison.prompts.some(({ costUsd }) => costUsd > 0)
  const rows = comparison.prompts.map(({ name, counts, interval, costUsd }) => [
    { text: name, paint: cyan },
    { text: `${counts.success}:${counts.failure}` },
    { text: `${percent(interval.low)}–${percent(interval.high)}` },
    { text: besidesText(counts) },
    ...(hasCost ? [{ text: `$${costUsd.toFixed(2)}` }] : []),
  ])
  const titles = ["PROMPT", "RESULT", "95 %", "NOT COUNTED", ...(hasCost ? ["COST"] : [])]
  return [
    ...renderTable(titles, rows, context.stdout.width()),
    ...comparison.notes.map((note) => `note: ${note}`),
    verdictText(comparison),
  ]
}

function besidesText({ warned, broken }: Compared["counts"]): string {
  const told = [
    ...(warned > 0 ? [`${warned} not proven`] : []),
    ...(broken > 0 ? [`${broken} broken`] : []),
  ]
  return told.join(", ")
}

function verdictText({ prompts, p, better }: Comparison): string {
  const test = `${pText(p)}, Fisher's exact test, two-sided`
  if (better === null) return `not significant (${test}): nothing shows that they differ`
  const [winner, loser] = [prompts[better], prompts[better === 0 ? 1 : 0]]
  return `significant (${test}): ${winner.name} succeeds more often than ${loser.name}`
}

function pText(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`
}
