import { describe, expect, test } from "bun:test"
import { summarize } from "./support/latency-summary.ts"
import type { Report } from "./support/report.ts"
import { reportAsJunit } from "./support/report-junit.ts"
import { reportAsPage } from "./support/report-page.ts"
import { reportAsText } from "./support/report-text.ts"
import type { MemorySample, Outcome, Scenario } from "./support/scenario.ts"

const passed: Outcome = { kind: "passed" }
const hostile = `<b>&"it's"</b>\u0000]]>`

describe("a report of a passed, a failed and an unfinished scenario", () => {
  const report = reportOf([
    scenario("calm", passed, { durationMs: 61_400, orphans: 0 }),
    scenario("storm", { kind: "failed", error: "Error: 2 left\n  at storm.ts:1" }, { orphans: 2 }),
    scenario("stuck", { kind: "unfinished" }),
  ])

  test("tells as text how many passed, what failed and why", () => {
    const text = reportAsText(report)

    expect(text).toContain("1 of 3 scenarios passed (33.3 %), 2 orphans")
    expect(text).toMatch(/^calm +passed +1 min 1 s +0$/m)
    expect(text).toMatch(/^storm +failed +1\.5 s +2$/m)
    expect(text).toMatch(/^stuck +unfinished /m)
    expect(text).toContain("FAILED storm:\n  Error: 2 left\n    at storm.ts:1")
    expect(text).toContain("UNFINISHED stuck")
  })

  test("counts failures and errors for machines", async () => {
    const elements = await elementsOf(reportAsJunit(report))

    expect(elements.find(({ tag }) => tag === "testsuites")?.attributes).toMatchObject({
      tests: "3",
      failures: "1",
      errors: "1",
    })
    expect(elements.filter(({ tag }) => tag === "testcase")).toHaveLength(3)
    expect(elements.find(({ tag }) => tag === "failure")?.attributes["message"]).toBe(
      "Error: 2 left",
    )
    expect(elements.filter(({ tag }) => tag === "error")).toHaveLength(1)
  })

  test("shows on the page which failed", () => {
    const page = reportAsPage(report)

    expect(page).toContain('<div class="tile bad"><b>33.3 %</b><span>1 of 3 passed</span></div>')
    expect(page).toContain('<div class="tile bad"><b>2</b><span>orphans found</span></div>')
    expect(page.match(/class="badge failed"/g)).toHaveLength(2) // in the table and above its part
    expect(page).toContain("Error: 2 left")
  })
})

describe("a report with figures", () => {
  const samples = [sample(0, 40, 50), sample(250, 45, null), sample(500, 42, 61)]
  const report = reportOf([
    scenario("load", passed, {
      latencies: [{ what: "execute", count: 1500, p50Ms: 2.25, p99Ms: 17.123, maxMs: 1234.5 }],
      memory: [{ name: "cgroup", samples }],
      counts: [{ what: "executions", value: 1500 }],
      notes: ["seed 7"],
    }),
  ])

  test("has them in the text, with the peak of each process", () => {
    const text = reportAsText(report)

    expect(text).toMatch(/^load: execute +1,500 +2\.25 +17\.1 +1,235$/m)
    // The most that each held by itself; of both together, the most in one sample.
    expect(text).toMatch(/^load: cgroup +46\.0 +62\.0 +93\.0$/m)
    expect(text).toMatch(/^load: executions +1,500$/m)
    expect(text).toContain("load: seed 7")
  })

  test("has them as properties for machines", async () => {
    const elements = await elementsOf(reportAsJunit(report))
    const properties = Object.fromEntries(
      elements
        .filter(({ tag }) => tag === "property")
        .map(({ attributes }) => [attributes["name"], attributes["value"]]),
    )

    expect(properties).toMatchObject({
      seed: "11",
      orphans: "0",
      "execute p99 ms": "17.123",
      "cgroup gateway peak RSS MB": "62.0",
      executions: "1500",
      note: "seed 7",
    })
  })

  test("has them on the page, with plots, and asks nothing of anybody", () => {
    const page = reportAsPage(report)

    expect(page).toContain("<td>17.1</td>")
    expect(page.match(/<svg /g)).toHaveLength(2)
    expect(page.match(/<polyline /g)).toHaveLength(3)
    expect(page).not.toMatch(/<(?:script|link|img|iframe)\b|@import|url\(|\bsrc=/)
    expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toContain("://")
  })

  test("keeps the peak of a long run on its plot", () => {
    const many = Array.from({ length: 5000 }, (_, at) => sample(at * 250, at === 777 ? 99 : 40, 50))
    const memory = [{ name: "", samples: many }]

    const page = reportAsPage(reportOf([scenario("long", passed, { memory })]))

    const line = /<polyline points="([^"]+)"/.exec(page)?.[1]?.split(" ") ?? []
    const heights = line.map((point) => Number(point.split(",")[1]))
    expect(heights.length).toBeLessThanOrEqual(400)
    expect(heights.filter((height) => height < (heights[0] ?? 0) - 100)).toHaveLength(1)
  })
})

describe("a report of hostile names and messages", () => {
  const report = reportOf([
    scenario(
      hostile,
      { kind: "failed", error: hostile },
      {
        notes: [hostile],
        counts: [{ what: hostile, value: 1 }],
        latencies: [summarize(hostile, [1])],
      },
    ),
  ])

  test("is still well-formed XML that says the same", async () => {
    const xml = reportAsJunit(report)

    const elements = await elementsOf(xml)
    const readable = hostile.replace("\u0000", "\ufffd")
    expect(elements.find(({ tag }) => tag === "testcase")?.attributes["name"]).toBe(readable)
    expect(elements.find(({ tag }) => tag === "failure")?.text).toBe(readable)
  })

  test("is still a page of its own elements only", () => {
    const page = reportAsPage(report)

    expect(page).not.toContain("<b>&")
    expect(page).toContain("&lt;b&gt;&amp;&quot;it&#x27;s&quot;&lt;/b&gt;")
  })
})

describe("a run without scenarios", () => {
  test("has a report all the same", async () => {
    const report = reportOf([])

    expect(reportAsText(report)).toContain("0 of 0 scenarios passed")
    expect(await elementsOf(reportAsJunit(report))).not.toEqual([])
    expect(reportAsPage(report)).toContain("</html>")
  })
})

describe("latencies", () => {
  test("are summed up by samples that were taken", () => {
    const samples = Array.from({ length: 200 }, (_, at) => 200 - at)

    expect(summarize("x", samples)).toEqual({
      what: "x",
      count: 200,
      p50Ms: 100,
      p99Ms: 198,
      maxMs: 200,
    })
    expect(summarize("x", [5])).toMatchObject({ p50Ms: 5, p99Ms: 5, maxMs: 5 })
  })
})

function reportOf(scenarios: Scenario[]): Report {
  return { mode: "short", seed: 11, machine: "2 × processor", scenarios }
}

function scenario(name: string, outcome: Outcome, more: Partial<Scenario> = {}): Scenario {
  return {
    name,
    startedAt: "2026-11-16T05:00:00.000Z",
    durationMs: 1500,
    outcome,
    latencies: [],
    memory: [],
    orphans: 0,
    counts: [],
    notes: [],
    ...more,
  }
}

function sample(atMs: number, keeperMb: number, gatewayMb: number | null): MemorySample {
  const memory = (rssMb: number) => ({ rssMb, peakMb: rssMb + 1, pssMb: rssMb - 5 })
  return { atMs, keeper: memory(keeperMb), gateway: gatewayMb === null ? null : memory(gatewayMb) }
}

type XmlElement = { tag: string; attributes: Record<string, string>; text: string }

/** By python's parser, which refuses what is not well-formed. */
async function elementsOf(xml: string): Promise<XmlElement[]> {
  const script =
    "import sys, json, xml.etree.ElementTree as tree\n" +
    "print(json.dumps([{'tag': e.tag, 'attributes': e.attrib, 'text': e.text or ''}" +
    " for e in tree.fromstring(sys.stdin.buffer.read()).iter()]))"
  const python = Bun.spawn(["python3", "-c", script], {
    stdin: new Blob([xml]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const said = await new Response(python.stdout).text()
  if ((await python.exited) !== 0) throw new Error(await new Response(python.stderr).text())
  return JSON.parse(said)
}
