import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import { liveStates } from "../../execution/state.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { nextCommand } from "../connect/next-command.ts"
import type { Context, RawMode } from "../context.ts"
import { describeError } from "../failure.ts"
import { pastOutput } from "../logs/log-chunk.ts"
import { LogPrinter } from "../logs/log-printer.ts"
import { type EndingSignal, endingSignals } from "../terminal/interrupts.ts"
import { pressedKeys } from "../terminal/pressed-keys.ts"
import { SharedInput } from "../terminal/shared-input.ts"
import { TerminalModes } from "../terminal/terminal-modes.ts"
import { enterScreen, leaveScreen, wholeScreen } from "../terminal/terminal-text.ts"
import { controlledText } from "./controlled-text.ts"
import type { ListFilter } from "./list-executions.ts"
import { emptyScreen, type ListAction, press, screenLines, withViews } from "./list-screen.ts"
import { WatchedRows } from "./watched-rows.ts"

/** With those that have ended, a list of everything could be very long. */
const mostWithEnded = 200
const shownLogLines = 1_000

const signalExitCodes: Readonly<Record<EndingSignal, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
}

/** Follows an execution on the terminal until it ends or is left. */
type Attach = (context: Context, id: string) => Promise<unknown>

/** A list to move in, that stays up to date; answers the exit code. */
export async function interactiveList(
  context: Context,
  client: Client,
  filter: ListFilter,
  attach: Attach,
): Promise<number> {
  using rows = await WatchedRows.begin(context, client, filter)
  using list = new InteractiveList(context, client, rows, filter, attach)
  return await list.run()
}

class InteractiveList implements Disposable {
  readonly #context: Context
  readonly #client: Client
  readonly #rows: WatchedRows
  readonly #filter: ListFilter
  readonly #attach: Attach
  readonly #input: SharedInput
  readonly #over = new AbortController()
  readonly #failed = Promise.withResolvers<never>()
  #screen
  /** Null while something else is on the terminal. */
  #rawMode: RawMode | null = null
  #exitCode = 0

  constructor(
    context: Context,
    client: Client,
    rows: WatchedRows,
    filter: ListFilter,
    attach: Attach,
  ) {
    this.#context = context
    this.#client = client
    this.#rows = rows
    this.#filter = filter
    this.#attach = attach
    this.#input = new SharedInput(context.stdin)
    this.#screen = { ...emptyScreen, showsEnded: filter.states?.includes("ended") ?? true }
  }

  async run(): Promise<number> {
    const { signals } = this.#context
    using stack = new DisposableStack()
    for (const signal of endingSignals) stack.use(signals.on(signal, () => this.#signaled(signal)))
    stack.use(signals.on("SIGWINCH", () => this.#inBackground(() => this.#draw())))
    stack.use(signals.on("SIGCONT", () => this.#continued()))
    this.#screen = withViews(this.#screen, await this.#rows.look())
    await this.#uncover()
    try {
      this.#inBackground(() => this.#stayUpToDate())
      await Promise.race([this.#takeKeys(), this.#failed.promise])
    } finally {
      await this.#cover()
    }
    return this.#exitCode
  }

  [Symbol.dispose](): void {
    this.#over.abort()
    this.#rawMode?.[Symbol.dispose]()
    this.#input[Symbol.dispose]()
  }

  async #stayUpToDate(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#rows.untilWorthALook()
      const views = await this.#rows.look()
      this.#screen = withViews(this.#screen, views) // keys were pressed meanwhile
      await this.#draw()
    }
  }

  async #takeKeys(): Promise<void> {
    for await (const chunk of this.#input.chunks(this.#over.signal)) {
      for (const key of pressedKeys(chunk)) {
        const { screen, action } = press(this.#screen, key)
        this.#screen = screen
        if (action.kind === "quit") return
        await this.#perform(action)
      }
      await this.#draw()
    }
  }

  async #perform(action: ListAction): Promise<void> {
    switch (action.kind) {
      case "attach":
        return this.#covered(() => this.#showAttached(action.view))
      case "logs":
        return this.#covered(() => this.#showLogs(action.view))
      case "cancel":
        return this.#steer(action.view, "CANCEL")
      case "pause":
        return this.#steer(action.view, "PAUSE")
      case "resume":
        return this.#steer(action.view, "RESUME")
      case "show-ended":
        this.#rows.filter = this.#screen.showsEnded
          ? { ...this.#filter, states: null, limit: Math.min(mostWithEnded, this.#filter.limit) }
          : { ...this.#filter, states: liveStates }
        return
      case "quit":
      case "none":
    }
  }

  /** Nobody waits for it: a cancel may take its time. */
  #steer({ execution_id }: ExecutionView, type: "CANCEL" | "PAUSE" | "RESUME"): void {
    this.#inBackground(async () => {
      const message = await this.#client
        .call("control", { type, execution_id })
        .then((result) => controlledText(shortId(execution_id), result), refusalText)
      const views = await this.#rows.look() // who reads of it may press the next key at once
      this.#screen = { ...withViews(this.#screen, views), message }
      await this.#draw()
    })
  }

  async #showAttached({ execution_id }: ExecutionView): Promise<boolean> {
    await this.#attach({ ...this.#context, stdin: this.#input }, execution_id)
    const { state } = await this.#client.call("status", { execution_id })
    return state === "ended"
  }

  async #showLogs(view: ExecutionView): Promise<boolean> {
    const { stdout, stderr } = this.#context
    const modes = new TerminalModes()
    const printer = new LogPrinter(this.#context, { stream: null, since: null, timestamps: false })
    for await (const event of pastOutput(this.#client, view, `tail:${shownLogLines}`)) {
      if (event.kind === "output") modes.see(event.bytes)
      await printer.print(event)
    }
    await stdout.writeBytes(Buffer.from(modes.leave()))
    if (view.lines.stdout + view.lines.stderr > shownLogLines) {
      const all = nextCommand(this.#context, "logs", shortId(view.execution_id))
      await stderr.write(`cc-executor: these are the last ${shownLogLines} lines; all: ${all}\n`)
    }
    return true
  }

  /** Lets something else have the terminal; answering true, it wants its end to be read. */
  async #covered(show: () => Promise<boolean>): Promise<void> {
    await this.#cover()
    const isToBeRead = await show().catch(async (error: unknown) => {
      if (!(error instanceof CallError)) throw error
      await this.#context.stderr.write(`cc-executor: ${refusalText(error)}\n`)
      return true
    })
    this.#input.discard()
    if (this.#over.signal.aborted) return
    if (isToBeRead) await this.#untilKey()
    if (!this.#over.signal.aborted) await this.#uncover()
  }

  async #untilKey(): Promise<void> {
    await this.#context.stderr.write("cc-executor: press any key to go back to the list\n")
    using _raw = this.#context.stdin.rawMode()
    for await (const _key of this.#input.chunks(this.#over.signal)) return
  }

  async #cover(): Promise<void> {
    if (this.#rawMode === null) return
    this.#rawMode[Symbol.dispose]()
    this.#rawMode = null
    await this.#context.stdout.write(leaveScreen)
  }

  async #uncover(): Promise<void> {
    this.#rawMode = this.#context.stdin.rawMode()
    await this.#context.stdout.write(enterScreen)
    await this.#draw()
  }

  async #draw(): Promise<void> {
    if (this.#rawMode === null) return
    const size = this.#context.terminalSize() ?? { cols: 80, rows: 24 }
    await this.#context.stdout.write(wholeScreen(screenLines(this.#context, this.#screen, size)))
  }

  #signaled(signal: EndingSignal): void {
    // What covers the list has its own answer to Ctrl-C.
    if (signal === "SIGINT" && this.#rawMode === null) return
    this.#exitCode = signalExitCodes[signal]
    this.#over.abort()
  }

  #continued(): void {
    if (this.#rawMode === null) return
    this.#rawMode.renew()
    this.#inBackground(async () => {
      await this.#context.stdout.write(enterScreen)
      await this.#draw()
    })
  }

  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#failed.reject(error)
    })
  }
}

function refusalText(error: unknown): string {
  if (!(error instanceof CallError)) throw error
  return describeError(error)
}
