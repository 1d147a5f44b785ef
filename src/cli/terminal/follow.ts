import { CallError, InputError } from "../../client/client-error.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"
import { shortId } from "../../execution/id.ts"
import type { Completed } from "../../protocol/notifications.ts"
import { BrokenPipeError, type Context, type RawMode } from "../context.ts"
import { endingNotice, survivorsNotice } from "../executions/execution-text.ts"
import { exitCodeOf } from "../exit-code.ts"
import { describeError } from "../failure.ts"
import { DetachKeys, type EndingSignal, endingSignals, Interrupts } from "./interrupts.ts"
import { showOutput, TerminalModes } from "./show-output.ts"

export type FollowOptions = {
  /** Whether what is typed or piped here goes to the execution. */
  input: "none" | "stream" | "keys"
  hasTerminal: boolean
  mayCancel: boolean
  /** What a reader of our output that goes away means: `yes | head` ends the `yes`, too. */
  onBrokenPipe: "cancel" | "detach"
  /** Signals that came before there was anything to follow. */
  earlier: readonly EndingSignal[]
}

type End =
  | { kind: "completed"; completed: Completed }
  | { kind: "detached"; exitCode: number; says: boolean; isCanceling: boolean }

const brokenPipeExitCode = 141 // as if SIGPIPE had ended us

/** Shows an execution until it ends or is left; answers the exit code. */
export async function follow(
  context: Context,
  execution: RemoteExecution,
  options: FollowOptions,
): Promise<number> {
  const follower = new Follower(context, execution, options)
  const end = await follower.run()
  if (end.kind === "completed") {
    await follower.say(endingNotice(end.completed))
    await follower.say(survivorsNotice(end.completed))
    return exitCodeOf(end.completed)
  }
  if (end.says) await follower.say(detachedText(shortId(execution.id), end.isCanceling))
  return end.exitCode
}

function detachedText(id: string, isCanceling: boolean): string {
  const what = isCanceling ? "is still being canceled" : "continues"
  return `detached; ${id} ${what}. Reattach with: cc-executor attach ${id}`
}

class Follower {
  readonly #context: Context
  readonly #execution: RemoteExecution
  readonly #options: FollowOptions
  readonly #interrupts: Interrupts
  readonly #left = Promise.withResolvers<End>()
  readonly #over = new AbortController()
  readonly #modes = new TerminalModes()
  #rawMode: RawMode | null = null

  constructor(context: Context, execution: RemoteExecution, options: FollowOptions) {
    this.#context = context
    this.#execution = execution
    this.#options = options
    this.#interrupts = new Interrupts(options.mayCancel)
  }

  async run(): Promise<End> {
    using stack = new DisposableStack()
    stack.defer(() => this.#over.abort())
    for (const signal of endingSignals) {
      stack.use(this.#context.signals.on(signal, () => this.#signaled(signal)))
    }
    for (const signal of this.#options.earlier) this.#signaled(signal)
    if (this.#options.hasTerminal) this.#followSize(stack)
    if (this.#options.input === "keys") this.#enterRawMode(stack)
    const input = this.#passInput().catch((error: unknown) => this.#left.reject(error))
    const end = await Promise.race([this.#output(), this.#left.promise])
    this.#over.abort()
    await input
    if (end.kind === "detached") await this.#undoModes()
    return end
  }

  /** In raw mode a line feed alone goes down, not back to the left. */
  async say(text: string | null): Promise<void> {
    if (text === null) return
    const lineEnd = this.#rawMode === null ? "\n" : "\r\n"
    try {
      await this.#context.stderr.write(`cc-executor: ${text}${lineEnd}`)
    } catch (error) {
      if (!(error instanceof BrokenPipeError)) throw error // after SIGHUP nobody is there
    }
  }

  async #output(): Promise<End> {
    try {
      const shown = showOutput(this.#context, this.#execution, (bytes) => this.#modes.see(bytes))
      return { kind: "completed", completed: await shown }
    } catch (error) {
      if (error instanceof BrokenPipeError) return this.#pipeBroke()
      throw error
    }
  }

  async #pipeBroke(): Promise<End> {
    if (this.#options.onBrokenPipe === "detach") {
      return this.#detached(0, "quietly")
    }
    await this.#cancel()
    return this.#detached(brokenPipeExitCode, "quietly")
  }

  #detached(exitCode: number, how: "aloud" | "quietly"): End {
    const isCanceling = this.#interrupts.hasCanceled
    return { kind: "detached", exitCode, says: how === "aloud", isCanceling }
  }

  #signaled(signal: EndingSignal): void {
    const answer = this.#interrupts.answer(signal)
    if (answer.kind === "detach") {
      return this.#left.resolve(this.#detached(answer.exitCode, "aloud"))
    }
    const id = shortId(this.#execution.id)
    this.#inBackground(async () => {
      await this.say(`canceling ${id}… (press Ctrl-C again to detach)`)
      await this.#cancel()
    })
  }

  async #cancel(): Promise<void> {
    try {
      await this.#execution.cancel()
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      // It has ended meanwhile: that is what was wanted, and its end is on its way.
      if (error.failure.reason !== "WRONG_STATE") await this.say(describeError(error))
    }
  }

  #followSize(stack: DisposableStack): void {
    const fit = () => {
      const size = this.#context.terminalSize()
      if (size === null) return
      this.#inBackground(() => this.#resize(size.cols, size.rows))
    }
    stack.use(this.#context.signals.on("SIGWINCH", fit))
    const continued = () => {
      this.#rawMode?.renew()
      fit()
    }
    stack.use(this.#context.signals.on("SIGCONT", continued))
    fit()
  }

  async #resize(cols: number, rows: number): Promise<void> {
    try {
      await this.#execution.resize(cols, rows)
    } catch (error) {
      // It is ending, or has not begun: the size no longer matters, or is asked for again.
      if (!(error instanceof CallError)) throw error
    }
  }

  async #passInput(): Promise<void> {
    const { input } = this.#options
    if (input === "none") return
    const keys = input === "keys" ? new DetachKeys() : null
    try {
      for await (const chunk of this.#context.stdin.chunks(this.#over.signal)) {
        const { forward, isDetach } = keys?.feed(chunk) ?? { forward: chunk, isDetach: false }
        if (forward.length > 0) await this.#unlessOver(this.#execution.write(forward))
        if (isDetach) return this.#left.resolve(this.#detached(0, "aloud"))
      }
      if (!this.#over.signal.aborted) await this.#unlessOver(this.#execution.end())
    } catch (error) {
      // The child has closed its input or ended, as `head` does: nothing is wrong with that.
      if (!(error instanceof CallError || error instanceof InputError)) throw error
    }
  }

  /** A child that reads nothing must not keep us from ending. */
  async #unlessOver(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { signal } = this.#over
    signal.addEventListener("abort", () => resolve(), { once: true })
    if (!signal.aborted) await Promise.race([work, promise])
    if (signal.aborted) work.catch(() => undefined) // it ended, with the rest unread
  }

  /** What fails here ends the following; the execution goes on. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#left.reject(error))
  }

  #enterRawMode(stack: DisposableStack): void {
    this.#rawMode = stack.use(this.#context.stdin.rawMode())
    stack.defer(() => {
      this.#rawMode = null
    })
  }

  async #undoModes(): Promise<void> {
    const { stdout } = this.#context
    if (this.#options.hasTerminal && stdout.isTty) await stdout.write(this.#modes.undo())
  }
}
