import { describe, expect, test } from "bun:test"
import {
  emptyScreen,
  type ListScreen,
  press,
  screenLines,
  selectedView,
  withViews,
} from "../../../src/cli/executions/list-screen.ts"
import { pressedKeys } from "../../../src/cli/terminal/pressed-keys.ts"
import { plainText } from "../../../src/cli/terminal/terminal-text.ts"
import { type ExecutionView, viewOf } from "../../../src/protocol/execution-view.ts"
import { sampleRecord } from "../../support/sample-record.ts"
import { fakeContext } from "../fake-context.ts"

const view = (letter: string, command: string, state: ExecutionView["state"] = "running") => ({
  ...viewOf(sampleRecord({})),
  execution_id: letter.repeat(26),
  state,
  argv: command.split(" "),
  command: null,
  ending: null,
})
const views = [view("a", "make test"), view("b", "sleep 9", "paused"), view("c", "vim", "ended")]

/** Everything typed, as bytes of a terminal: the list afterwards, and what was wanted last. */
function typed(screen: ListScreen, keys: string) {
  let now = screen
  let wanted = "none"
  for (const key of pressedKeys(Buffer.from(keys))) {
    const { screen: next, action } = press(now, key)
    now = next
    wanted = "view" in action ? `${action.kind} ${action.view.execution_id[0]}` : action.kind
  }
  return { screen: now, wanted }
}

const list = withViews(emptyScreen, views)
const selected = (keys: string, screen = list) =>
  selectedView(typed(screen, keys).screen)?.execution_id.charAt(0)

describe("the interactive list", () => {
  test("moves by arrows, letters and pages, and stays within the list", () => {
    expect(selected("")).toBe("a")
    expect(selected("\x1b[B")).toBe("b")
    expect(selected("jj")).toBe("c")
    expect(selected("\x1b[B\x1b[A")).toBe("a")
    expect(selected("k")).toBe("a")
    expect(selected("\x1b[6~")).toBe("c")
    expect(selected("Gg")).toBe("a")
    for (const end of ["\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"]) expect(selected(end)).toBe("c")
    for (const home of ["\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"]) {
      expect(selected(`G${home}`)).toBe("a")
    }
  })

  test("stays with the execution when others come and go, and beside it when it goes", () => {
    const { screen } = typed(list, "j")

    expect(selected("", withViews(screen, [view("z", "new"), ...views]))).toBe("b")
    expect(selected("", withViews(screen, [views[0] ?? view("x", ""), view("c", "vim")]))).toBe("c")
    expect(selected("", withViews(screen, []))).toBeUndefined()
  })

  test.each([
    ["\r", "attach a"],
    ["jl", "logs b"],
    ["p", "pause a"],
    ["jp", "resume b"],
    ["a", "show-ended"],
    ["q", "quit"],
    ["\x03", "quit"],
    ["c", "none"],
    ["cy", "cancel a"],
    ["cn", "none"],
    ["c\r", "none"],
    ["Gc", "none"],
    ["Gp", "none"],
    ["x", "none"],
    ["\x1b[1;5D", "none"],
    ["\x1a", "suspend"],
    ["/sl\x1a", "suspend"],
  ])("%j means %s", (keys, wanted) => {
    expect(typed(list, keys).wanted).toBe(wanted)
  })

  test("is filtered while the filter is typed, until Escape", () => {
    const { screen } = typed(list, "/SLEEP")

    expect(selected("", screen)).toBe("b")
    expect(selected("\rj", screen)).toBe("b")
    expect(selected("x", screen)).toBeUndefined()
    expect(selected("x\x7f", screen)).toBe("b")
    expect(selected("\rgq", screen)).toBe("b")
    expect(selected("\x1bg", screen)).toBe("a")
  })
})

describe("its screen", () => {
  const shown = (screen: ListScreen, cols: number, rows: number) =>
    screenLines(fakeContext(), screen, { cols, rows }).map(plainText)

  test("has as many lines as the terminal, none of them longer than it is wide", () => {
    for (const [cols, rows] of [
      [80, 24],
      [80, 5],
      [200, 50],
    ] as const) {
      const lines = shown(list, cols, rows)
      expect(lines).toHaveLength(rows)
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(cols)
    }
  })

  test("shows all keys at 80 columns", () => {
    expect(shown(list, 80, 24).at(-1)).toMatch(/^↑↓ select .* q quit$/)
  })

  test("scrolls with the selection, and says how many are below", () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
      ...view("a", `job ${index}`),
      execution_id: `${index}`.padStart(26, "0"),
    }))
    const screen = withViews(emptyScreen, many)

    expect(shown(screen, 80, 10).join("\n")).toMatch(/> 0{8} .*job 0 *\n[\s\S]*23 more below/)
    const end = shown(typed(screen, "G").screen, 80, 10)
    expect(end.join("\n")).toMatch(/> .*job 29/)
    expect(end.join("\n")).not.toContain("more below")
  })

  test("asks what would be canceled, and shows the filter", () => {
    expect(shown(typed(list, "c").screen, 80, 8).at(-2)).toBe("Cancel aaaaaaaa, make test? [y/N]")
    expect(shown(typed(list, "/sl").screen, 80, 8).at(-2)).toBe("filter: sl_")
    expect(shown(typed(list, "/zz\r").screen, 80, 8)[1]).toContain("nothing matches")
  })
})
