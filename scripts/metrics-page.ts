import { unreadinessReasons } from "../src/service/gateway/reports/readiness.ts"
import { allOutcomeLabels } from "../src/service/keeper/reports/keeper-metrics.ts"
import { catalogue } from "../src/service/metrics/catalogue.ts"

/** The reference of every metric there is. */
export function metricsPage(): string {
  return `${[introduction(), metrics(), values()].join("\n\n")}\n`
}

function introduction(): string {
  return [
    "# Metrics",
    "",
    "<!-- Made by scripts/generate-docs.ts: change src/service/metrics/catalogue.ts instead. -->",
    "",
    "What `GET /metrics` tells, in this order. How to get at it, and what to look at first, is in",
    "[observability](observability.md).",
    "",
    "*Counted by* says which process has the number. Counters begin at 0 with it: the gateway's",
    "when the gateway is started again, the keeper's when the service is, or when",
    "`cc-executor upgrade` puts another program in its place. Prometheus's `rate` and `increase`",
    "know how to deal with that.",
  ].join("\n")
}

function metrics(): string {
  const rows = Object.entries(catalogue).map(([name, { type, of, help, labels }]) => {
    const by = of === "both" ? "each" : of
    const names = labels.length === 0 ? "–" : labels.map((label) => `\`${label}\``).join(", ")
    return `| \`${name}\` | ${type} | ${names} | ${by} | ${help} |`
  })
  return ["| name | type | labels | counted by | meaning |", rule(5), ...rows].join("\n")
}

function values(): string {
  const outcomes = allOutcomeLabels.map(({ outcome, cause }) => `| \`${outcome}\` | \`${cause}\` |`)
  const reasons = Object.entries(unreadinessReasons).map(
    ([name, { message, action }]) => `| \`${name}\` | ${message} ${action} |`,
  )
  return [
    "## How executions end",
    "",
    "A start that is refused, also because its program is not there, is no execution: it counts in",
    "`cc_executor_refusals_total`. `failed-to-start` is one that had waited in the queue. `lost`",
    "with `service-ended` is what an earlier service left without an end.",
    "",
    "| `outcome` | `cause` |",
    rule(2),
    ...outcomes,
    "",
    "## Why the service is not ready",
    "",
    "The same names are in `/readyz`, with the same sentences, and in `cc-executor doctor`.",
    "",
    "| `reason` | what is wrong, and what to do |",
    rule(2),
    ...reasons,
  ].join("\n")
}

function rule(columns: number): string {
  return `|${" --- |".repeat(columns)}`
}
