import { describe, expect, test } from "bun:test"
import { ScrollPosition } from "../../src/console/execution/scroll-position.ts"

const rowHeight = 18

function positionIn(lines: number): ScrollPosition {
  const position = new ScrollPosition(rowHeight)
  position.resize(lines, 30)
  return position
}

describe("a place among few lines", () => {
  test("is where the box is scrolled to", () => {
    const position = positionIn(1000)
    position.scrolled(180)
    expect(position.line).toBe(10)
    expect(position.moveTo(20)).toBe(360)
    expect(position.isAtEnd).toBe(false)
    position.moveTo(2000)
    expect([position.line, position.isAtEnd]).toEqual([970, true])
  })
})

describe("a place among more lines than a browser can scroll", () => {
  test("moves line by line in small steps, and far in large ones", () => {
    const position = positionIn(50_000_000)
    expect(position.height).toBeLessThanOrEqual(8_000_000)
    const top = position.moveTo(25_000_000)
    position.scrolled(top + 3 * rowHeight)
    expect(position.line).toBeCloseTo(25_000_003, 3)
    position.scrolled(position.height / 4)
    expect(position.line).toBeGreaterThan(12_000_000)
    expect(position.line).toBeLessThan(13_000_000)
  })

  test("has a first and a last line", () => {
    const position = positionIn(50_000_000)
    position.scrolled(position.height)
    expect(position.line).toBe(49_999_970)
    position.scrolled(0)
    expect(position.line).toBe(0)
  })
})
