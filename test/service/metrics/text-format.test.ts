import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { catalogue } from "../../../src/service/metrics/catalogue.ts"
import { Histogram, Tally } from "../../../src/service/metrics/instruments.ts"
import { textFormat } from "../../../src/service/metrics/text-format.ts"
import { parseMetrics } from "../../support/metrics-text.ts"

const described = {
  things_total: { type: "counter", help: "Things." },
  delay_seconds: { type: "histogram", help: "Delays." },
} as const

describe("the text of metrics", () => {
  test("is one block for each name, in the order of the catalogue", () => {
    const delay = new Histogram([0.1, 1])
    delay.observe(0.1)
    delay.observe(5)

    const text = textFormat(
      [
        { name: "delay_seconds", samples: [delay.sample({ process: "keeper" })] },
        { name: "things_total", samples: [{ labels: {}, value: 3 }] },
      ],
      described,
    )

    expect(text).toBe(
      [
        "# HELP things_total Things.",
        "# TYPE things_total counter",
        "things_total 3",
        "# HELP delay_seconds Delays.",
        "# TYPE delay_seconds histogram",
        'delay_seconds_bucket{process="keeper",le="0.1"} 1',
        'delay_seconds_bucket{process="keeper",le="1"} 1',
        'delay_seconds_bucket{process="keeper",le="+Inf"} 2',
        'delay_seconds_sum{process="keeper"} 5.1',
        'delay_seconds_count{process="keeper"} 2',
        "",
      ].join("\n"),
    )
  })

  test("joins what two processes tell under one name", () => {
    const of = (process: string) => [{ labels: { process }, value: 1 }]
    const told = ["keeper", "gateway"].map((one) => ({ name: "things_total", samples: of(one) }))

    const text = textFormat(told, described)

    expect(text.match(/# TYPE/g)).toHaveLength(1)
    expect(parseMetrics(text).get('things_total{process="gateway"}')).toBe(1)
  })

  test("leaves out what has no samples, and what nobody has described", () => {
    const told = [
      { name: "things_total", samples: [] },
      { name: "of_another_version_total", samples: [{ labels: {}, value: 1 }] },
    ]
    expect(textFormat(told, described)).toBe("")
  })

  test("escapes what is in labels and help, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (value, help) => {
        const samples = [{ labels: { of: value }, value: 1 }]
        const text = textFormat([{ name: "things_total", samples }], {
          things_total: { type: "counter", help },
        })

        const [helpLine = "", , line = ""] = text.split("\n")
        expect(text.split("\n")).toHaveLength(4)
        expect(unescaped(helpLine.slice("# HELP things_total ".length))).toBe(help)
        const quoted = /^things_total\{of="((?:[^"\\\n]|\\.)*)"\} 1$/su.exec(line)?.[1]
        expect(unescaped(quoted ?? "not found")).toBe(value)
      }),
    )
  })

  test("says numbers as Prometheus reads them", () => {
    const said = [0, 0.1, 1e21, 2 ** 53, Infinity, -Infinity, NaN].map((value) =>
      textFormat([{ name: "things_total", samples: [{ labels: {}, value }] }], described)
        .trim()
        .split(" ")
        .at(-1),
    )
    expect(said).toEqual(["0", "0.1", "1e+21", "9007199254740992", "+Inf", "-Inf", "NaN"])
  })
})

describe("a histogram", () => {
  test("has buckets that only grow, a last one that counts all, and their sum", () => {
    const numbers = fc.array(fc.double({ min: 0, max: 100, noNaN: true }))
    fc.assert(
      fc.property(numbers, fc.uniqueArray(fc.integer({ min: 1, max: 99 })), (values, unsorted) => {
        const bounds = unsorted.toSorted((a, b) => a - b)
        const histogram = new Histogram(bounds)
        for (const value of values) histogram.observe(value)

        const told = [{ name: "delay_seconds", samples: [histogram.sample()] }]
        const text = parseMetrics(textFormat(told, described))
        const upTo = (bound: number) => values.filter((value) => value <= bound).length
        for (const bound of bounds) {
          expect(text.get(`delay_seconds_bucket{le="${bound}"}`)).toBe(upTo(bound))
        }
        expect(text.get('delay_seconds_bucket{le="+Inf"}')).toBe(values.length)
        expect(text.get("delay_seconds_count")).toBe(values.length)
        const sum = values.reduce((all, value) => all + value, 0)
        expect(text.get("delay_seconds_sum")).toBeCloseTo(sum, 6)
      }),
    )
  })

  test("takes what a clock that was set back makes of a duration for nothing", () => {
    const histogram = new Histogram([1])
    for (const value of [-5, NaN, -Infinity]) histogram.observe(value)
    expect(histogram.sample()).toEqual({ labels: {}, bounds: [1], counts: [3, 0], sum: 0 })
  })
})

test("a tally tells what has not happened as zero", () => {
  const tally = new Tally("reason", ["slow", "full"])
  tally.add("full")
  tally.add("full", 4)
  expect(tally.samples()).toEqual([
    { labels: { reason: "slow" }, value: 0 },
    { labels: { reason: "full" }, value: 5 },
  ])
})

test("names in the catalogue end in what they count, as Prometheus wants them", () => {
  for (const [name, { type, help }] of Object.entries(catalogue)) {
    expect(name).toMatch(/^cc_executor_[a-z_]+$/)
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"])
    if (type === "histogram") expect(name).toEndWith("_seconds")
    expect(help).toMatch(/^[A-Z0-9].*\.$/)
  }
})

function unescaped(text: string): string {
  const meant: Record<string, string> = { n: "\n", "\\": "\\", '"': '"' }
  return text.replaceAll(/\\(.)/gsu, (_, escaped: string) => meant[escaped] ?? `?${escaped}`)
}
