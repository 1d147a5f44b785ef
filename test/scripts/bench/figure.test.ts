import { describe, expect, test } from "bun:test"
import { below, type Figure, timesFloor } from "../../../scripts/bench/figure.ts"
import { figureTable } from "../../../scripts/bench/figure-table.ts"

const figure = { what: "lines", value: 17, unit: "M/s" }

describe("a figure beside its floor", () => {
  test("shows the ratio, the aim and whether it is reached", () => {
    const aim = timesFloor("at least", 0.85)

    expect(row({ ...figure, floor: 20, aim })).toEqual({
      what: "lines",
      value: "17 M/s",
      floor: "20 M/s",
      "× floor": "0.85",
      aim: "≥ 0.85 × floor",
      reached: "yes",
    })
    expect(row({ ...figure, floor: 21, aim })).toMatchObject({ "× floor": "0.81", reached: "no" })
  })

  test("may be an aim from above", () => {
    const aim = timesFloor("at most", 2)

    expect(row({ ...figure, floor: 8.5, aim })).toMatchObject({ reached: "yes" })
    expect(row({ ...figure, floor: 8, aim })).toMatchObject({ aim: "≤ 2 × floor", reached: "no" })
  })

  test("is not called reached when the floor is missing", () => {
    const aim = timesFloor("at most", 2)

    expect(row({ ...figure, aim })).toMatchObject({ floor: "", "× floor": "", reached: "no" })
  })
})

describe("a figure with a plain bound", () => {
  test("is below it, or not", () => {
    expect(row({ ...figure, aim: below(20) })).toMatchObject({ aim: "< 20 M/s", reached: "yes" })
    expect(row({ ...figure, aim: below(17) })).toMatchObject({ aim: "< 17 M/s", reached: "no" })
  })
})

describe("a figure without an aim", () => {
  test("says nothing about one", () => {
    expect(row(figure)).toMatchObject({ aim: "", reached: "" })
  })
})

function row(one: Figure) {
  return figureTable([one])[0]
}
