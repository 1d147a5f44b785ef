import type { ExecutionEvent } from "../../../client/output/execution-event.ts"
import type { RemoteExecution } from "../../../client/remote-execution.ts"
import { delay } from "../../../lib/delay.ts"
import { QueryFilter } from "../../../terminal/query-filter.ts"
import type { Context } from "../../context.ts"
import { TerminalModes } from "../terminal-modes.ts"
import type { ScreenView } from "./screen-view.ts"

export type TerminalEvent = Extract<ExecutionEvent, { kind: "screen" | "output" | "resized" }>

/** A size that this terminal had a moment ago is still on its way. */
const settledMs = 300
/** A screen that becomes higher shows lines that were above it. */
export const linesForGrowth = 300
/** What is said in the middle of a screen stands there for so long. */
const noticeMs = 4000

/**
 * What an execution's terminal shows, on the terminal here. `direct` passes its output on, as long
 * as both are of one size; else, and for who comes back to it, its screen is drawn.
 */
export class TerminalOutput {
  readonly #context: Pick<Context, "stdout" | "terminalSize">
  readonly #execution: Pick<RemoteExecution, "showScreen">
  readonly #failed: (error: unknown) => void
  readonly #modes = new TerminalModes()
  readonly #filter: QueryFilter | null
  readonly #linesAbove: number
  readonly #over: AbortSignal
  #view: ScreenView | null = null
  /** Drawn from the next screen on: what comes before it is on that. */
  #isChanging = false
  #size: { cols: number; rows: number } | null = null

  constructor(
    context: Pick<Context, "stdout" | "terminalSize">,
    execution: Pick<RemoteExecution, "showScreen">,
    { queries, linesAbove }: { queries: "kept" | "removed"; linesAbove: number },
    over: AbortSignal,
    failed: (error: unknown) => void,
  ) {
    this.#context = context
    this.#execution = execution
    this.#filter = queries === "removed" ? new QueryFilter() : null
    this.#linesAbove = linesAbove
    this.#over = over
    this.#failed = failed
  }

  async show(event: TerminalEvent): Promise<void> {
    if (event.kind === "screen") {
      this.#isChanging = false
      this.#view ??= await this.#newView()
    }
    if (this.#isChanging) return
    if (this.#view !== null) return this.#view.show(event)
    if (event.kind === "output") return this.#pass(event.bytes)
    if (event.kind === "resized") this.#resized(event)
  }

  /** The terminal here has another size, or was left for a while. */
  repaint(): void {
    this.#view?.repaint()
  }

  /** Something else was written to it. */
  disturbed(): void {
    if (this.#view !== null) void this.#repaintLater()
  }

  async #repaintLater(): Promise<void> {
    await delay(noticeMs, this.#over)
    if (!this.#over.aborted) this.#view?.repaint()
  }

  /** A program that is left, or was killed, has not put the terminal back itself. */
  async restore(isLeft: boolean): Promise<void> {
    if (this.#view !== null) return this.#view.leave(isLeft ? "nothing" : "last-lines")
    // Sequences whose parameters are digits, whatever the program wrote.
    const undo = isLeft ? this.#modes.leave() : this.#modes.undo()
    await this.#context.stdout.writeBytes(Buffer.from(undo))
  }

  async #pass(written: Uint8Array): Promise<void> {
    const bytes = this.#filter?.filter(written) ?? written
    this.#modes.see(bytes)
    if (bytes.length > 0) await this.#context.stdout.writeBytes(bytes)
  }

  #resized(size: { cols: number; rows: number }): void {
    this.#size = size
    if (!this.#isOwnSize()) this.#changeUnlessSettled().catch(this.#failed)
  }

  async #changeUnlessSettled(): Promise<void> {
    await delay(settledMs, this.#over)
    const isDrawn = this.#view !== null || this.#isChanging
    if (!this.#over.aborted && !isDrawn && !this.#isOwnSize()) await this.#change()
  }

  #isOwnSize(): boolean {
    const own = this.#context.terminalSize()
    const size = this.#size
    return own === null || size === null || (own.cols === size.cols && own.rows === size.rows)
  }

  /** From another size on, the output means other cells than it would here: it is drawn. */
  async #change(): Promise<void> {
    this.#isChanging = true
    await this.#context.stdout.writeBytes(Buffer.from(this.#modes.undo()))
    const size = () => this.#context.terminalSize()
    this.#execution.showScreen({ scrollback: linesForGrowth, size })
  }

  async #newView(): Promise<ScreenView> {
    const { ScreenView: View } = await import("./screen-view.ts")
    return new View(this.#context, this.#linesAbove, this.#failed)
  }
}
