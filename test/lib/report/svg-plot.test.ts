import { describe, expect, test } from "bun:test"
import { barPlot, linePlot } from "../../../src/lib/report/svg-plot.ts"

const awkward = `a < b & "c" > 'd' \u0007 ]]>`

describe("a line plot", () => {
  const plot = {
    title: "Memory",
    xLabel: "seconds",
    yLabel: "MB",
    series: [
      { name: "keeper", points: points(61, (x) => 40 + x / 3) },
      { name: "gateway", points: points(61, () => 83) },
    ],
    limit: { name: "limit", y: 100 },
  }

  test("is well-formed, and needs nothing from elsewhere", () => {
    const svg = linePlot(plot)

    expect(parsedBy(svg)).toBe("svg")
    expect(svg).not.toMatch(/<script|<image|@import|url\(|href/)
  })

  test("names every series and the limit, and draws each once", () => {
    const words = textsOf(linePlot(plot))

    expect(words).toEqual(expect.arrayContaining(["keeper", "gateway", "limit", "seconds", "MB"]))
    expect(linePlot(plot).match(/<polyline/g)).toHaveLength(2)
    expect(linePlot(plot).match(/plot-limit/g)).toHaveLength(1)
  })

  test("has round ticks that hold the highest value and the limit", () => {
    const words = textsOf(linePlot(plot))

    expect(words).toEqual(expect.arrayContaining(["0", "20", "40", "60", "80", "100"]))
    expect(words).toEqual(expect.arrayContaining(["10", "30", "50"]))
  })

  test("keeps its lines inside its axes", () => {
    const places = linePlot(plot).match(/points="([^"]+)"/)?.[1] ?? ""

    for (const place of places.split(" ")) {
      const [x = Number.NaN, y = Number.NaN] = place.split(",").map(Number)
      expect(x).toBeWithin(72, 697)
      expect(y).toBeWithin(48, 345)
    }
  })

  test("has exact ticks where steps are fractions", () => {
    const words = textsOf(linePlot({ ...plot, series: [one([0, 0], [1, 0.9])], limit: none }))

    expect(words).toEqual(expect.arrayContaining(["0.2", "0.4", "0.6", "0.8", "1"]))
    expect(words.join(" ")).not.toContain("0000")
  })

  test("shows a single point", () => {
    const svg = linePlot({ ...plot, series: [one([5, 5])], limit: none })

    expect(parsedBy(svg)).toBe("svg")
    expect(svg).toContain("<polyline")
  })

  test("leaves out what is not a number", () => {
    const svg = linePlot({ ...plot, series: [one([0, 1], [1, Number.NaN], [2, 3])] })

    expect(svg).not.toMatch(/NaN|Infinity/)
    expect(svg.match(/points="([^"]+)"/)?.[1]?.split(" ")).toHaveLength(2)
  })

  test("takes more points than a call takes arguments", () => {
    const svg = linePlot({ ...plot, series: [{ name: "soak", points: points(300_000, () => 1) }] })

    expect(svg).toContain("soak")
  })

  test("says so where there is no data", () => {
    for (const series of [[], [{ name: "empty", points: [] }]]) {
      const svg = linePlot({ title: "t", xLabel: "x", yLabel: "y", series })
      expect(parsedBy(svg)).toBe("svg")
      expect(textsOf(svg)).toContain("no data")
      expect(svg).not.toMatch(/NaN|Infinity/)
    }
  })
})

describe("a bar plot", () => {
  const bars = [
    { name: "small", value: 16_300 },
    { name: "large", value: 10_500_000 },
  ]

  test("gives each bar its name, its value and a length in proportion", () => {
    const svg = barPlot({ title: "Lines", unit: "lines/s", bars })

    expect(parsedBy(svg)).toBe("svg")
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining(["small", "large", "16.3k", "10.5M", "lines/s"]),
    )
    const [small = 0, large = 0] = lengthsOf(svg)
    expect(large / small).toBeGreaterThan(300)
  })

  test("has powers of ten as ticks on a logarithmic scale", () => {
    const svg = barPlot({ title: "Lines", unit: "lines/s", bars, isLogarithmic: true })

    expect(textsOf(svg)).toEqual(expect.arrayContaining(["10k", "100k", "1M", "10M", "100M"]))
    const [small = 0, large = 0] = lengthsOf(svg)
    expect(small).toBeGreaterThan(0)
    expect(large / small).toBeLessThan(20)
  })

  test("draws nothing for zero on a logarithmic scale", () => {
    const all = [{ name: "none", value: 0 }, ...bars]
    const svg = barPlot({ title: "Lines", unit: "lines/s", bars: all, isLogarithmic: true })

    expect(lengthsOf(svg)[0]).toBe(0)
    expect(svg).not.toMatch(/NaN|Infinity/)
  })

  test("says so where there is no data", () => {
    for (const isLogarithmic of [true, false]) {
      const svg = barPlot({ title: "t", unit: "u", bars: [], isLogarithmic })
      expect(parsedBy(svg)).toBe("svg")
      expect(textsOf(svg)).toContain("no data")
      expect(svg).not.toMatch(/NaN|Infinity/)
    }
  })
})

describe("words with the signs of markup in them", () => {
  test("reach the reader as they are, but for what XML cannot hold", () => {
    const shown = awkward.replace("\u0007", "�")
    const lines = linePlot({
      title: awkward,
      xLabel: awkward,
      yLabel: awkward,
      series: [{ name: awkward, points: [[0, 1]] }],
      limit: { name: awkward, y: 2 },
    })
    const bars = barPlot({ title: awkward, unit: awkward, bars: [{ name: awkward, value: 1 }] })

    expect(textsOf(lines).filter((words) => words === shown)).toHaveLength(5)
    expect(textsOf(bars).filter((words) => words === shown)).toHaveLength(3)
  })
})

const none = { name: "none", y: 0 }

function one(...given: [number, number][]): { name: string; points: [number, number][] } {
  return { name: "one", points: given }
}

function points(count: number, y: (x: number) => number): [number, number][] {
  return Array.from({ length: count }, (_, x): [number, number] => [x, y(x)])
}

function lengthsOf(svg: string): number[] {
  return [...svg.matchAll(/<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g)].map(([, length]) =>
    Number(length),
  )
}

function parsedBy(svg: string): string {
  return read(svg, "print(root.tag.split('}')[1])").trim()
}

function textsOf(svg: string): string[] {
  const program = "print('\\n'.join(each.text for each in root.findall('.//{*}text')))"
  return read(svg, program).trimEnd().split("\n")
}

/** What a real XML parser makes of it. */
function read(svg: string, program: string): string {
  const reading = `import sys, xml.etree.ElementTree as tree
sys.stdout.reconfigure(encoding='utf-8')
root = tree.fromstring(sys.stdin.buffer.read())
${program}`
  const { stdout, stderr } = Bun.spawnSync(["/usr/bin/python3", "-c", reading], {
    stdin: Buffer.from(svg),
  })
  expect(stderr.toString()).toBe("")
  return stdout.toString()
}
