import type { WorkCheck } from "../documents/front-matter.ts"
import type { Prompt } from "../documents/prompt.ts"
import type { Region } from "../documents/regions.ts"
import type { Counts } from "../ledger/counts.ts"
import { damageText } from "../ledger/damage.ts"
import { judgeGraduation } from "../ledger/graduation.ts"
import type { LedgerSummary, VersionSummary } from "../ledger/summary.ts"
import { wilsonInterval } from "../ledger/wilson.ts"
import { codeSpan, inline } from "./inline.ts"

/** The metrics of a prompt, in the words that its form has for them. */
export function metricsLines(prompt: Prompt, summary: LedgerSummary, region: Region): string[] {
  const [damage] = summary.damages
  const claimed = region.attributes.get("claimed")
  return [
    ...(damage === undefined ? countLines(prompt, summary) : notCounted(prompt, damage)),
    ...checkLines(prompt, summary),
    ...(claimed === undefined ? [] : [entry("Claimed, unattested", `${claimed} before adoption`)]),
    ...historyLines(prompt, summary.versions),
  ]
}

function entry(label: string, value: string | number): string {
  return `- **${label}**: ${value}`
}

function notCounted({ dialect }: Prompt, damage: Parameters<typeof damageText>[0]): string[] {
  const why = `N/A: the ledger is damaged: ${inline(damageText(damage))}`
  return [entry(ratioLabel[dialect], why)]
}

const ratioLabel = {
  own: "Ratio",
  "form-a": "Success/Failure Ratio",
  "form-b": "Success Ratio",
} as const

function countLines(prompt: Prompt, summary: LedgerSummary): string[] {
  const { dialect } = prompt
  const { life, lastAt, costPerSuccessUsd } = summary
  const ratio = entry(ratioLabel[dialect], ratioText(prompt, life))
  const updated = entry("Last Updated", lastAt?.slice(0, 10) ?? "never")
  const numbers = [entry("Success", life.success), entry("Failure", life.failure)]
  const total = entry("Total Executions", life.success + life.failure)
  const cost = costPerSuccessUsd === null ? [] : [entry("Cost per Success", usd(costPerSuccessUsd))]
  return [
    ...{
      own: [...numbers, ratio, updated],
      "form-a": [ratio, updated],
      "form-b": [...numbers, total, updated, ratio],
    }[dialect],
    ...besides(life),
    ...cost,
  ]
}

function ratioText({ dialect, settings }: Prompt, { success, failure }: Counts): string {
  const { ratio } = settings.graduation
  const needed = {
    own: `needs ${ratio}:1 to graduate`,
    "form-a": `Requires ${ratio}:1 to graduate`,
    "form-b": `need ${ratio}:1 to graduate`,
  }[dialect]
  return `${success}:${failure} (${needed}; ${intervalText(success, failure)})`
}

/** Rounded outwards, so that it never says more than is known. */
export function intervalText(success: number, failure: number): string {
  const { low, high } = wilsonInterval(success, failure)
  return `95 % interval of success ${Math.floor(low * 100)}–${Math.ceil(high * 100)} %`
}

function besides({ warned, broken, lost }: Counts): string[] {
  const told = [
    [warned, "warned"],
    [broken, "broken"],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
  return [
    ...(lost === 0 ? [] : [entry("Lost", `${lost}, counted as failures`)]),
    ...(told.length === 0 ? [] : [entry("Not counted", told.join(", "))]),
  ]
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}

const mostChecks = 10

function checkLines(prompt: Prompt, summary: LedgerSummary): string[] {
  const { checks, recovery } = prompt.settings
  const shown = checks.slice(0, mostChecks).map(checkText)
  const more = checks.length > mostChecks ? [`and ${checks.length - mostChecks} more`] : []
  const { recoveryGreen } = judgeGraduation(prompt, summary)
  return [
    ...(shown.length === 0 ? [] : [entry("Checks", [...shown, ...more].join("; "))]),
    ...(recovery.length === 0
      ? []
      : [entry("Recovery Tests", `${recoveryGreen} of ${recovery.length} green`)]),
  ]
}

function checkText({ run, red, spoil }: WorkCheck): string {
  if (spoil !== null) return `${codeSpan(run)} must fail after ${codeSpan(spoil)}`
  return `${codeSpan(run)} must fail ${red === "empty" ? "in an empty directory" : "at base"}`
}

const mostVersions = 20

function historyLines({ dialect }: Prompt, versions: readonly VersionSummary[]): string[] {
  if (versions.length === 0) return []
  const hidden = Math.max(0, versions.length - mostVersions)
  const rows = versions.slice(hidden).map((one, index) => {
    const name = `v${hidden + index + 1}`
    const trials = one.first === one.last ? `trial ${one.first}` : `trials ${one.first}–${one.last}`
    const result = `${one.counts.success}:${one.counts.failure}`
    return { name, text: one.version.slice(0, 8), trials, result, at: one.at.slice(0, 10) }
  })
  const heading = entry("Evolution History", hidden === 0 ? "" : `(after ${hidden} more)`).trimEnd()
  if (dialect === "form-b") {
    return [
      heading,
      ...rows.map((row) => `  - ${row.name}: text ${row.text}, ${row.trials}: ${row.result}`),
    ]
  }
  return [
    heading,
    "",
    "  | Version | Change & Reason | Result |",
    "  | --- | --- | --- |",
    ...rows.map(
      (row) => `  | ${row.name} | text ${row.text}, ${row.trials}, ${row.at} | ${row.result} |`,
    ),
  ]
}
