import { describe, expect, test } from "bun:test"
import { benchmarksPage } from "../../../scripts/bench/benchmarks-page.ts"
import { timesFloor } from "../../../scripts/bench/figure.ts"

const peer = {
  lineCount: 500_000,
  lastLineSeconds: 5,
  linesPerSecond: 100_000,
  cpuSeconds: 6,
  cpuSecondsPerMillionLines: 12,
  clientCpuSeconds: 2,
  peakRssMb: 11,
  peaks: null,
}
const run = {
  machine: "2 × some processor, Bun 1.4.4",
  date: new Date("2026-02-03T04:05:06Z"),
  websocketdVersion: "0.4.1-1",
  peers: [
    { ...peer, name: "websocketd" },
    {
      ...peer,
      name: "cc-executor, JSON text frames, utf8",
      linesPerSecond: 20_000_000,
      peakRssMb: 130,
      peaks: { keeper: 60, gateway: 70 },
    },
  ],
  parts: [
    {
      name: "throughput",
      about: "Words, ".repeat(40),
      figures: [
        { what: "lines", value: 17, unit: "M/s", floor: 20, aim: timesFloor("at least", 0.9) },
      ],
      plots: [{ file: "throughput.svg", title: "Lines", svg: "<svg/>" }],
    },
  ],
}

describe("the page of a run", () => {
  const files = benchmarksPage(run)
  const page = files.find(({ path }) => path === "docs/benchmarks.md")?.text ?? ""

  test("says where and when it ran, and what beside what", () => {
    expect(page).toContain("2 × some processor, Bun 1.4.4")
    expect(page).toContain("2026-02-03")
    expect(page).toContain("0.4.1-1")
    const words = page.replaceAll(/\s+/g, " ")
    expect(words).toContain("200 × websocketd in lines per second (aim: 100 ×, reached)")
    expect(words).toContain("16,300 lines per second")
  })

  test("wraps its paragraphs", () => {
    const prose = page.split("\n").filter((line) => !/^[|!<]/.test(line))

    expect(prose.filter((line) => line.length > 100)).toEqual([])
    expect(page.match(/Words,/g)).toHaveLength(40)
  })

  test("has a row for every peer and every figure, whose cells are as many as the columns", () => {
    const rows = page.split("\n").filter((line) => line.startsWith("|"))

    expect(rows).toHaveLength(2 + 2 + 2 + 1)
    expect(rows.find((line) => line.includes("utf8"))).toContain("60 + 70 MB")
    expect(rows.at(-1)).toBe("| lines | 17 M/s | 20 M/s | 0.85 | ≥ 0.9 × floor | no |")
  })

  test("comes with every picture it shows", () => {
    const shown = [...page.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path]) => `docs/${path}`)
    const written = files.map(({ path }) => path).filter((path) => path.endsWith(".svg"))

    expect(shown.toSorted()).toEqual(written.toSorted())
    expect(shown).toHaveLength(4)
  })
})
