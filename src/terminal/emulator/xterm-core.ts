import { type ITerminalInitOnlyOptions, type ITerminalOptions, Terminal } from "@xterm/headless"
import { z } from "zod"

/**
 * What @xterm/headless does not offer, and what bringing a screen back cannot do without. The
 * version is exact, and `opened` refuses another one that has lost any of it.
 */
export type XtermCore = {
  readonly buffers: { readonly normal: XtermBuffer; readonly alt: XtermBuffer }
  readonly buffer: XtermBuffer
  readonly coreService: {
    isCursorHidden: boolean
    readonly modes: { insertMode: boolean }
    readonly decPrivateModes: {
      applicationCursorKeys: boolean
      applicationKeypad: boolean
      bracketedPasteMode: boolean
      cursorBlink: boolean | undefined
      cursorStyle: "block" | "underline" | "bar" | undefined
      origin: boolean
      reverseWraparound: boolean
      sendFocus: boolean
      wraparound: boolean
    }
    triggerDataEvent(data: string): void
  }
  readonly coreMouseService: { activeProtocol: string; activeEncoding: string }
  readonly _charsetService: {
    readonly glevel: number
    readonly charset: object | undefined
    readonly _charsets: (object | undefined)[]
    setgCharset(level: number, charset: object | undefined): void
  }
  readonly _oscLinkService: {
    readonly _dataByLinkId: ReadonlyMap<number, unknown>
    getLinkData(id: number): { id?: string; uri: string } | undefined
    registerLink(data: { id?: string; uri: string }): number
  }
  readonly _inputHandler: {
    readonly _curAttrData: XtermCell & { updateExtended(): void }
    readonly _parser: {
      readonly currentState: number
      readonly precedingJoinState: number
      reset(): void
      registerCsiHandler(id: CsiName, handler: (params: XtermParams) => boolean): unknown
    }
    saveCursor(params?: unknown): boolean
    restoreCursor(params?: unknown): boolean
  }
  writeSync(data: string | Uint8Array): void
}

export type CsiName = { prefix?: string; intermediates?: string; final: string }
export type XtermParams = { readonly length: number; readonly params: Int32Array }

/** Whether there is more to do. */
type XtermTask = () => unknown
type XtermTaskQueue = { enqueue(task: XtermTask): void }

export type XtermBuffer = {
  readonly _memoryCleanupQueue: XtermTaskQueue
  x: number
  y: number
  readonly ybase: number
  readonly scrollTop: number
  readonly scrollBottom: number
  readonly tabs: Readonly<Record<number, boolean | undefined>>
  savedX: number
  savedY: number
  readonly savedCurAttrData: XtermStyle
  readonly savedCharset: object | undefined
  readonly lines: { readonly length: number; get(index: number): XtermLine | undefined }
}

export type XtermLine = {
  readonly isWrapped: boolean
  readonly length: number
  loadCell(index: number, cell: XtermCell): XtermCell
  addCodepointToCell: (this: XtermLine, index: number, codePoint: number, width: number) => void
  readonly _combined: Readonly<Record<number, string>>
}

export type XtermStyle = {
  readonly fg: number
  readonly bg: number
  readonly extended: { readonly _ext: number; readonly _urlId: number } | undefined
}

export type XtermCell = XtermStyle & {
  getChars(): string
  getWidth(): number
}

export type Xterm = { terminal: Terminal; core: XtermCore }

export function opened(options: ITerminalOptions & ITerminalInitOnlyOptions): Xterm {
  const terminal = new Terminal({ ...options, allowProposedApi: true, logLevel: "off" })
  const core = Core.parse(Reflect.get(terminal, "_core"))
  tidyAtOnce(core)
  return { terminal, core }
}

/** In idle moments, as it would by itself, it warns on the console where these are short. */
function tidyAtOnce({ buffers }: XtermCore): void {
  const queues = TaskQueue.parse(Reflect.getPrototypeOf(buffers.normal._memoryCleanupQueue))
  queues.enqueue = (task) => {
    while (task() === true);
  }
}

const TaskQueue = z.custom<XtermTaskQueue>((queue) => has(queue, "enqueue"))

/** A cell to load others into. */
export function newCell({ terminal }: Xterm): XtermCell {
  return Cell.parse(terminal.buffer.active.getNullCell())
}

/** What all lines have in common. */
export function linePrototype(line: XtermLine): XtermLine {
  return Line.parse(Reflect.getPrototypeOf(line))
}

const Line = z.custom<XtermLine>((line) => has(line, "addCodepointToCell", "loadCell"))
const Cell = z.custom<XtermCell>((cell) => has(cell, "fg", "bg", "extended", "getChars"))

const Core = z.custom<XtermCore>(
  (core) =>
    has(core, "buffers", "buffer", "writeSync") &&
    has(part(core, "coreService"), "isCursorHidden", "modes", "decPrivateModes") &&
    has(part(core, "coreMouseService"), "activeProtocol", "activeEncoding") &&
    has(part(core, "_charsetService"), "glevel", "_charsets") &&
    has(part(core, "_oscLinkService"), "_dataByLinkId", "getLinkData", "registerLink") &&
    has(part(core, "_inputHandler"), "_curAttrData", "_parser", "saveCursor", "restoreCursor") &&
    has(
      part(core, "buffer"),
      "savedX",
      "savedY",
      "savedCurAttrData",
      "scrollTop",
      "tabs",
      "lines",
    ) &&
    has(part(core, "buffer"), "_memoryCleanupQueue"),
  "this version of @xterm/headless has other insides",
)

function part(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
}

function has(value: unknown, ...names: string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => name in value)
}
