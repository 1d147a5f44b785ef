import { describe, expect, test } from "bun:test"
import { commandText } from "../../../src/cli/executions/execution-text.ts"
import { coloursFor } from "../../../src/cli/terminal/colours.ts"
import { type Cell, type Column, cut, renderTable } from "../../../src/cli/terminal/table.ts"
import { terminalText } from "../../../src/cli/terminal/terminal-text.ts"
import {
  ageText,
  countOption,
  durationOption,
  durationText,
  sizeOption,
  sizeText,
  timeOption,
} from "../../../src/cli/time.ts"
import { checkArgv } from "../../../src/execution/trial/check-wrapper.ts"
import { fakeOutput } from "../fake-context.ts"

describe("a table", () => {
  const columns = ["ID", { right: "SIZE" }, "COMMAND"] as const
  const rows = [
    [{ text: "a" }, { text: "1" }, { text: "make" }],
    [{ text: "bcd" }, { text: "12345" }, { text: "a long command line" }],
  ]

  test("is aligned, without spaces at the ends of lines", () => {
    expect(rendered(columns, rows, null)).toEqual([
      "ID    SIZE  COMMAND",
      "a        1  make",
      "bcd  12345  a long command line",
    ])
  })

  test("cuts its last column where the terminal ends", () => {
    expect(rendered(columns, rows, 25).at(-1)).toBe("bcd  12345  a long comma…")
  })

  test("counts what is shown, not what is written", () => {
    const wide = [[{ text: "日本" }, { text: "1" }, { text: "x" }]]
    const painted = [[{ text: "ab", paint: (text: string) => `<${text}>` }, { text: "" }]]

    expect(rendered(columns, wide, null).at(-1)).toBe("日本     1  x")
    expect(rendered(columns, painted, null).at(-1)).toBe("<ab>")
  })

  test("of nothing is its titles", () => {
    expect(rendered(columns, [], 80)).toEqual(["ID  SIZE  COMMAND"])
  })
})

function rendered(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | null,
): string[] {
  return renderTable(columns, rows, width).map(terminalText)
}

describe("text of others", () => {
  test("cannot steer the terminal, nor add a row to a table", () => {
    const hostile = "a\nb\x1b[31m\x9b\tc\x7f"
    const paint = (text: string) => coloursFor(fakeOutput({ isTty: true }), {}).red(text)

    expect(rendered(["A", "B"], [[{ text: hostile, paint }, { text: "x" }]], null)).toEqual([
      "A                              B",
      "\x1b[31ma\\nb\\u001b[31m\\u009b\\tc\\u007f\x1b[0m  x",
    ])
  })

  test("cannot use a sequence of ours", () => {
    const red = terminalText(coloursFor(fakeOutput({ isTty: true }), {}).red("x"))

    expect(terminalText(red)).toBe("\\u001b[31mx\\u001b[0m")
  })

  test("is cut between characters", () => {
    expect(cut("日本語", 5)).toBe("日本…")
    expect(cut("abc", 3)).toBe("abc")
    expect(cut("abcd", 3)).toBe("ab…")
  })

  test("is quoted as a shell would want it", () => {
    expect(commandText({ command: null, argv: ["sh", "-c", "it's 1; x"] })).toBe(
      "sh -c 'it'\\''s 1; x'",
    )
    expect(commandText({ command: "a | b", argv: ["/bin/sh", "-c", "a | b"] })).toBe("a | b")
  })

  test("of a step of a trial is its role, and its check without the wrapper", () => {
    const check = { command: null, argv: checkArgv("make test\n") }
    expect(commandText(check)).toContain("MARKER")
    const trial = { id: "a".repeat(26), step: "red-1", role: "red" } as const
    expect(commandText({ ...check, trial })).toBe("red: make test\\n")
    expect(commandText({ command: null, argv: ["make"], trial })).toBe("red: make")
  })
})

describe("colours", () => {
  const terminal = fakeOutput({ isTty: true })

  test("are for terminals", () => {
    expect(terminalText(coloursFor(terminal, { TERM: "xterm" }).red("x"))).toBe("\x1b[31mx\x1b[0m")
    expect(coloursFor(fakeOutput(), { TERM: "xterm" }).red("x")).toBe("x")
  })

  test.each([[{ NO_COLOR: "1" }], [{ CI: "true" }], [{ TERM: "dumb" }]])("not with %j", (env) => {
    expect(coloursFor(terminal, env).red("x")).toBe("x")
  })

  test("an empty NO_COLOR says nothing", () => {
    expect(coloursFor(terminal, { NO_COLOR: "" }).red("x")).not.toBe("x")
  })
})

describe("times and sizes", () => {
  test.each([
    [-5, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [47 * 3_600_000, "47h"],
    [48 * 3_600_000, "2d"],
  ])("%d ms ago is %s", (ms, text) => {
    expect(ageText(ms)).toBe(text)
  })

  test.each([
    [420, "0.42s"],
    [12_340, "12.3s"],
    [184_000, "3m04s"],
    [7_500_000, "2h05m"],
    [273_600_000, "3d04h"],
  ])("%d ms took %s", (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [150 * 1024, "150 KiB"],
    [5.5 * 1024 ** 3, "5.5 GiB"],
  ])("%d bytes are %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text)
  })

  test("are read from options", () => {
    const now = new Date("2026-11-16T12:00:00Z")

    expect(durationOption("--timeout", "1.5m")).toBe(90_000)
    expect(durationOption("--timeout", "2")).toBe(2000)
    expect(sizeOption("--memory", "64k")).toBe(65_536)
    expect(countOption("--tail", "0")).toBe(0)
    expect(timeOption("--since", "10m", now)).toEqual(new Date("2026-11-16T11:50:00Z"))
    expect(timeOption("--since", "2026-11-15T08:00:00Z", now)).toEqual(
      new Date("2026-11-15T08:00:00Z"),
    )
  })

  test("are refused where they make no sense", () => {
    expect(() => durationOption("--timeout", "0s")).toThrow("--timeout")
    expect(() => sizeOption("--memory", "-1")).toThrow("--memory")
    expect(() => countOption("--tail", "1.5")).toThrow("--tail")
  })
})
