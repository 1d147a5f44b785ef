import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { promtool } from "../../scripts/promtool.ts"
import { catalogue } from "../../src/service/metrics/catalogue.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

// Grafana is in no repository of Debian, so nothing here imports the file into a real one: these
// are the rules of its import, as far as its documentation has them.

const columns = 24
const GridPosition = z.object({
  x: z.int().min(0),
  y: z.int().min(0),
  w: z.int().min(1).max(columns),
  h: z.int().min(1),
})
const Source = z.object({ type: z.literal("prometheus"), uid: z.literal("${datasource}") })
const Target = z.object({
  refId: z.string(),
  expr: z.string(),
  legendFormat: z.string(),
  datasource: Source,
})
const Place = z.object({ id: z.int().positive(), title: z.string().min(1), gridPos: GridPosition })
const Row = Place.extend({ type: z.literal("row"), panels: z.array(z.never()) })
const Graph = Place.extend({
  type: z.enum(["timeseries", "stat"]),
  description: z.string().min(1),
  datasource: Source,
  targets: z.array(Target).min(1),
})
const Dashboard = z.object({
  uid: z.string().min(1).max(40),
  title: z.string().min(1),
  schemaVersion: z.int().min(36), // the first in which a panel names its source by an object
  templating: z.object({
    list: z.tuple([
      z.object({ name: z.literal("datasource"), type: z.literal("datasource") }),
      z.object({ name: z.literal("instance"), type: z.literal("query"), datasource: Source }),
    ]),
  }),
  panels: z.array(z.discriminatedUnion("type", [Row, Graph])),
})

const file = join(import.meta.dir, "../../packaging/grafana-dashboard.json")
const dashboard = Dashboard.parse(JSON.parse(readFileSync(file, "utf8")))
const graphs = dashboard.panels.flatMap((panel) => (panel.type === "row" ? [] : [panel]))
const targets = graphs.flatMap((panel) => panel.targets.map((target) => ({ ...target, panel })))
const noPromtool = promtool() === null ? "no promtool" : null

/** What Grafana puts in the place of its variables. */
function asAsked(expression: string): string {
  return expression.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".+")
}

describe("the dashboard for Grafana", () => {
  test("gives every panel an id, and room that no other takes", () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)

    const taken = new Map<string, string>()
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(columns)
      for (const cell of cellsOf(gridPos)) {
        expect([cell, taken.get(cell) ?? title]).toEqual([cell, title])
        taken.set(cell, title)
      }
    }
  })

  test("names each query of a panel differently", () => {
    for (const { targets: queries } of graphs) {
      expect(new Set(queries.map(({ refId }) => refId)).size).toBe(queries.length)
    }
  })

  test.each(targets)("asks $expr of what there is", ({ expr, legendFormat }) => {
    const used = [...expr.matchAll(/\b(cc_executor_\w+)(\{[^}]*\})?/g)]
    expect(used).not.toBeEmpty()
    const known = used.map(([, name = "", selector = ""]) => {
      const base = name.replace(/_bucket$/, "")
      const metric = Object.entries(catalogue).find(([listed]) => listed === base)?.[1]
      if (metric === undefined) throw new Error(`${name} is not in the catalogue`)
      expect([name, metric.type === "histogram"]).toEqual([name, name !== base])
      expect(selector).toContain('instance=~"$instance"')
      const isSummed = /(?:rate|increase)\($/.test(expr.slice(0, expr.indexOf(name)))
      expect([name, isSummed]).toEqual([name, metric.type !== "gauge"])
      return new Set<string>(["instance", "le", ...metric.labels])
    })

    const named = [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", ")),
      ...[...expr.matchAll(/[{,] ?(\w+)(?:=~|!=|=)/g)].map(([, label = ""]) => label),
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
    ]
    for (const label of named) {
      expect([label, known.every((labels) => labels.has(label))]).toEqual([label, true])
    }
  })

  test("names in a legend only what its query keeps", () => {
    for (const { expr, legendFormat } of targets) {
      const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(", ")
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label)
      const isAllSummed = /^(?:sum|min|max)\(/.test(expr)
      if (isAllSummed) expect([expr, shown]).toEqual([expr, []])
      else if (kept !== undefined)
        expect(shown.filter((label) => !kept.includes(label))).toEqual([])
    }
  })

  test("shows every metric but the few that alerts are for", () => {
    const text = targets.map(({ expr }) => expr).join("\n")
    const missing = Object.keys(catalogue).filter((name) => !text.includes(name))
    expect(missing).toEqual([
      "cc_executor_containment_info",
      "cc_executor_tls_certificate_expiry_timestamp_seconds",
      "cc_executor_output_recorded_lines_total",
      "cc_executor_output_dropped_lines_total",
      "cc_executor_gaps_told_lines_total",
      "cc_executor_process_start_time_seconds",
    ])
  })

  testUnless(noPromtool, "asks in words that Prometheus understands", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "rules.yml")
    // A rules file is YAML, of which JSON is a part.
    const rules = targets.map(({ expr }, index) => {
      return { record: `dashboard:query:${index}`, expr: asAsked(expr) }
    })
    writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules }] }))

    const checked = Bun.spawn([promtool() ?? "", "check", "rules", path], {
      stdout: "pipe",
      stderr: "pipe",
    })
    const [stdout, stderr] = await Promise.all([checked.stdout.text(), checked.stderr.text()])

    expect({ exitCode: await checked.exited, stderr }).toEqual({ exitCode: 0, stderr: "" })
    expect(stdout).toContain(`SUCCESS: ${targets.length} rules found`)
  })
})

function cellsOf({ x, y, w, h }: z.infer<typeof GridPosition>): string[] {
  return Array.from({ length: w * h }, (_, index) => {
    return `${x + (index % w)}, ${y + Math.floor(index / w)}`
  })
}
