import { shortId } from "../../execution/id.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import type { Key } from "../terminal/pressed-keys.ts"
import { cut } from "../terminal/table.ts"
import { plainText, reversed, type Text } from "../terminal/terminal-text.ts"
import { executionTable } from "./execution-table.ts"
import { commandText } from "./execution-text.ts"

/** The list of `ps -i`, as a person sees it. */
export type ListScreen = {
  /** Every execution that may be shown, newest first. */
  readonly views: readonly ExecutionView[]
  /** Where the selected one is, should it go away. */
  readonly selected: { readonly id: string | null; readonly index: number }
  readonly showsEnded: boolean
  readonly filter: string
  readonly dialog:
    | { readonly kind: "none" }
    | { readonly kind: "filter" }
    | { readonly kind: "cancel"; readonly view: ExecutionView }
  /** What there is to say of what was done last. */
  readonly message: string
}

export const emptyScreen: ListScreen = {
  views: [],
  selected: { id: null, index: 0 },
  showsEnded: false,
  filter: "",
  dialog: { kind: "none" },
  message: "",
}

/** What somebody wants done by pressing a key. */
export type ListAction =
  | { kind: "attach" | "logs" | "cancel" | "pause" | "resume"; view: ExecutionView }
  | { kind: "show-ended" | "suspend" | "quit" | "none" }

export type Pressed = { screen: ListScreen; action: ListAction }

/** What a key makes of the list. */
export function press(screen: ListScreen, key: Key): Pressed {
  if (key === "ctrl-z") return { screen, action: { kind: "suspend" } }
  switch (screen.dialog.kind) {
    case "none":
      return pressInList({ ...screen, message: "" }, key)
    case "filter":
      return { screen: pressInFilter(screen, key), action: none }
    case "cancel": {
      const isAgreed = typeof key === "object" && /^y$/i.test(key.typed)
      const { view } = screen.dialog
      return {
        screen: { ...screen, dialog: { kind: "none" }, message: isAgreed ? "canceling…" : "" },
        action: isAgreed ? { kind: "cancel", view } : none,
      }
    }
  }
}

const none: ListAction = { kind: "none" }
const aPage = 10

function pressInList(screen: ListScreen, key: Key): Pressed {
  switch (typeof key === "string" ? key : key.typed) {
    case "up":
    case "k":
      return { screen: moved(screen, -1), action: none }
    case "down":
    case "j":
      return { screen: moved(screen, 1), action: none }
    case "page-up":
      return { screen: moved(screen, -aPage), action: none }
    case "page-down":
      return { screen: moved(screen, aPage), action: none }
    case "home":
    case "g":
      return { screen: moved(screen, Number.NEGATIVE_INFINITY), action: none }
    case "end":
    case "G":
      return { screen: moved(screen, Number.POSITIVE_INFINITY), action: none }
    case "/":
      return { screen: { ...screen, dialog: { kind: "filter" } }, action: none }
    case "escape":
      return { screen: { ...screen, filter: "" }, action: none }
    case "a":
      return {
        screen: { ...screen, showsEnded: !screen.showsEnded },
        action: { kind: "show-ended" },
      }
    case "q":
    case "ctrl-c":
      return { screen, action: { kind: "quit" } }
    default: {
      const view = selectedView(screen)
      return view === null ? { screen, action: none } : pressOnExecution(screen, key, view)
    }
  }
}

function pressOnExecution(screen: ListScreen, key: Key, view: ExecutionView): Pressed {
  const say = (message: string) => ({ screen: { ...screen, message }, action: none })
  const hasEnded = view.state === "ended"
  switch (typeof key === "string" ? key : key.typed) {
    case "enter":
      return { screen, action: { kind: "attach", view } }
    case "l":
      return { screen, action: { kind: "logs", view } }
    case "c":
      if (hasEnded) return say(`${shortId(view.execution_id)} has already ended.`)
      return { screen: { ...screen, dialog: { kind: "cancel", view } }, action: none }
    case "p":
      if (hasEnded) return say(`${shortId(view.execution_id)} has already ended.`)
      return { screen, action: { kind: view.state === "paused" ? "resume" : "pause", view } }
    default:
      return { screen, action: none }
  }
}

function pressInFilter(screen: ListScreen, key: Key): ListScreen {
  if (typeof key === "object") return { ...screen, filter: screen.filter + key.typed }
  switch (key) {
    case "backspace":
      return { ...screen, filter: screen.filter.replace(/.$/su, "") }
    case "escape":
    case "ctrl-c":
      return { ...screen, filter: "", dialog: { kind: "none" } }
    case "up":
    case "down":
      return moved(screen, key === "up" ? -1 : 1)
    case "enter":
      return { ...screen, dialog: { kind: "none" } }
    default:
      return screen
  }
}

function moved(screen: ListScreen, by: number): ListScreen {
  const rows = shownRows(screen)
  const index = Math.max(0, Math.min(rows.length - 1, selectedIndex(screen, rows) + by))
  return { ...screen, selected: { id: rows[index]?.execution_id ?? null, index } }
}

/** The list with what there is by now; whatever moves, the selection stays with its execution. */
export function withViews(screen: ListScreen, views: readonly ExecutionView[]): ListScreen {
  return moved({ ...screen, views }, 0)
}

export function selectedView(screen: ListScreen): ExecutionView | null {
  const rows = shownRows(screen)
  return rows[selectedIndex(screen, rows)] ?? null
}

function selectedIndex({ selected }: ListScreen, rows: readonly ExecutionView[]): number {
  const found = rows.findIndex(({ execution_id }) => execution_id === selected.id)
  return found === -1 ? Math.max(0, Math.min(rows.length - 1, selected.index)) : found
}

function shownRows({ views, filter }: ListScreen): readonly ExecutionView[] {
  const wanted = filter.toLowerCase()
  return wanted === "" ? views : views.filter((view) => searchText(view).includes(wanted))
}

function searchText(view: ExecutionView): string {
  const labels = Object.entries(view.labels).map(([name, value]) => `${name}=${value}`)
  return [view.execution_id, view.state, ...labels, commandText(view)].join(" ").toLowerCase()
}

const keysHelp = "↑↓ select  Enter attach  l logs  c cancel  p pause  / filter  a ended  q quit"

/** As many lines as the terminal has, each as long as it is wide, or shorter. */
export function screenLines(
  context: Pick<Context, "stdout" | "env" | "now">,
  screen: ListScreen,
  { cols, rows: height }: TerminalSize,
): Text[] {
  const rows = shownRows(screen)
  const stdout = { ...context.stdout, width: () => cols - marker.length }
  const [titles = "", ...lines] = executionTable({ ...context, stdout }, rows)
  const room = Math.max(1, height - 3)
  const index = selectedIndex(screen, rows)
  const first = Math.max(0, Math.min(index - Math.floor(room / 2), rows.length - room))
  const shown = lines
    .slice(first, first + room)
    .map((line, at) => (first + at === index ? selectedLine(line, cols) : [noMarker, line]))
  if (shown.length === 0) shown.push([noMarker, emptyText(screen)])
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => "")
  const below = lines.length - first - shown.length
  return [
    [noMarker, titles],
    ...shown,
    ...blank,
    cut(statusText(screen, below), cols),
    cut(keysHelp, cols),
  ]
}

const marker = "> "
const noMarker = "  "

function selectedLine(line: Text, cols: number): Text {
  return reversed(cut(`${marker}${plainText(line)}`, cols).padEnd(cols))
}

function emptyText({ filter, showsEnded }: ListScreen): string {
  if (filter !== "") return "nothing matches; Escape shows everything"
  return showsEnded ? "there are no executions yet" : "nothing is running; a shows what has ended"
}

function statusText({ dialog, filter, message }: ListScreen, below: number): string {
  switch (dialog.kind) {
    case "cancel": {
      const { view } = dialog
      return `Cancel ${shortId(view.execution_id)}, ${commandText(view)}? [y/N]`
    }
    case "filter":
      return `filter: ${onOneLine(filter)}_`
    case "none": {
      const more = below > 0 ? [`${below} more below`] : []
      const filtered = filter === "" ? [] : [`filter: ${onOneLine(filter)}`]
      return message === "" ? [...filtered, ...more].join(" · ") : onOneLine(message)
    }
  }
}
