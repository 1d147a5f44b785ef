import { CallError } from "../../client/client-error.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"
import { shortId } from "../../execution/id.ts"
import { countText } from "../../lib/count-text.ts"
import { delay } from "../../lib/delay.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { Completed } from "../../protocol/notifications.ts"
import { nextCommand } from "../connect/next-command.ts"
import { BrokenPipeError, type Context, type RawMode } from "../context.ts"
import { endingNotice, survivorsNotice } from "../executions/execution-text.ts"
import { exitCodeOf } from "../exit-code.ts"
import { describeError } from "../failure.ts"
import { type EndingSignal, endingSignals, Interrupts } from "./interrupts.ts"
import { TerminalOutput } from "./screen/terminal-output.ts"
import { showOutput } from "./show-output.ts"
import { rawLineEnd } from "./terminal-text.ts"
import { TypedKeys } from "./typed-keys.ts"

export type FollowOptions = {
  /** Whether what is typed or piped here goes to the execution. */
  input: "none" | "stream" | "keys"
  /** Of the execution: none, one to look at, or one that takes this one's size. */
  terminal: "none" | "watched" | "steered"
  /** What asks the terminal something is not shown to this one: the service answers it. */
  queries: "kept" | "removed"
  /** Of a terminal's scrollback, to be printed above its screen. */
  linesAbove: number
  /** What leaves a terminal when it is typed; null where nothing does. */
  detachKeys: Uint8Array | null
  /** Whether Ctrl-C cancels it, or only leaves it. */
  mayCancel: boolean
  /** What a reader of our output that goes away means: `yes | head` ends the `yes`, too. */
  onBrokenPipe: "cancel" | "detach"
  /** Signals that came before there was anything to follow. */
  earlier: readonly EndingSignal[]
}

type End = { kind: "completed"; completed: Completed } | Detached

type Detached = {
  kind: "detached"
  exitCode: number
  says: boolean
  isCanceling: boolean
  /** Typed, but not taken by the execution before it was left. */
  unreadBytes: number
}

/** How long what was typed last may take to arrive, when the terminal is left. */
const lastKeysMs = 1000
/** A program that is ending takes no more keys; that its end is shown says enough. */
const endingMs = 500

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
  if (end.says) await follower.say(detachedText(context, shortId(execution.id), end))
  return end.exitCode
}

function detachedText(
  context: Pick<Context, "serviceOptions">,
  id: string,
  { isCanceling, unreadBytes }: Detached,
): string {
  const unread =
    unreadBytes > 0 ? `; it may not get the last ${countText(unreadBytes, "byte")} typed` : ""
  const back = `Reattach with: ${nextCommand(context, "attach", id)}`
  if (isCanceling) return `detached; ${id} is still being canceled${unread}. ${back}`
  const cancel = nextCommand(context, "cancel", id)
  return `detached; ${id} continues${unread}. ${back}; cancel it with: ${cancel}`
}

class Follower {
  readonly #context: Context
  readonly #execution: RemoteExecution
  readonly #options: FollowOptions
  readonly #interrupts: Interrupts
  readonly #left = Promise.withResolvers<End>()
  readonly #over = new AbortController()
  /** Null where bytes go out as they came. */
  readonly #terminal: TerminalOutput | null
  #rawMode: RawMode | null = null
  #unreadBytes = 0

  constructor(context: Context, execution: RemoteExecution, options: FollowOptions) {
    this.#context = context
    this.#execution = execution
    this.#options = options
    this.#interrupts = new Interrupts(options.mayCancel)
    const failed = (error: unknown) => this.#left.reject(error)
    this.#terminal =
      options.terminal === "none" || !context.stdout.isTty
        ? null
        : new TerminalOutput(context, execution, options, this.#over.signal, failed)
  }

  async run(): Promise<End> {
    using stack = new DisposableStack()
    stack.defer(() => this.#over.abort())
    for (const signal of endingSignals) {
      stack.use(this.#context.signals.on(signal, () => this.#signaled(signal)))
    }
    for (const signal of this.#options.earlier) this.#signaled(signal)
    if (this.#options.terminal === "steered") this.#followSize(stack)
    if (this.#options.input === "keys") this.#enterRawMode(stack)
    const input = this.#passInput().catch((error: unknown) => this.#left.reject(error))
    const end = await Promise.race([this.#output(), this.#left.promise])
    this.#over.abort()
    await input
    await this.#terminal?.restore(end.kind === "detached")
    return end
  }

  async say(text: string | null): Promise<void> {
    if (text === null) return
    const lineEnd = this.#rawMode === null ? "\n" : rawLineEnd
    try {
      await this.#context.stderr.write([`cc-executor: ${onOneLine(text)}`, lineEnd])
    } catch (error) {
      if (!(error instanceof BrokenPipeError)) throw error // after SIGHUP nobody is there
    }
    this.#terminal?.disturbed()
  }

  async #output(): Promise<End> {
    try {
      const shown = showOutput(this.#context, this.#execution, this.#terminal)
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
    const unreadBytes = this.#unreadBytes
    return { kind: "detached", exitCode, says: how === "aloud", isCanceling, unreadBytes }
  }

  #signaled(signal: EndingSignal): void {
    const answer = this.#interrupts.answer(signal)
    if (answer.kind === "detach") {
      return this.#left.resolve(this.#detached(answer.exitCode, "aloud"))
    }
    const id = shortId(this.#execution.id)
    this.#inBackground(async () => {
      await this.say(`canceling ${id}… (press Ctrl-C again to leave without waiting)`)
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
      this.#terminal?.repaint()
      if (size !== null) this.#inBackground(() => this.#resize(size.cols, size.rows))
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
    return input === "keys" ? this.#passKeys() : this.#passStream()
  }

  async #passStream(): Promise<void> {
    try {
      for await (const chunk of this.#context.stdin.chunks(this.#over.signal)) {
        await this.#unlessOver(this.#execution.write(chunk))
      }
      if (!this.#over.signal.aborted) await this.#unlessOver(this.#execution.end())
    } catch (error) {
      // The child has closed its input or ended, as `head` does: nothing is wrong with that.
      if (!(error instanceof CallError && error.failure.reason === "WRONG_STATE")) throw error
    }
  }

  /** Nothing typed waits for what was typed before: one can leave a program that reads nothing. */
  async #passKeys(): Promise<void> {
    const { detachKeys } = this.#options
    const failed = (error: unknown) => this.#left.reject(error)
    const refused = (error: CallError) => this.#inBackground(() => this.#sayRefused(error))
    using typed = new TypedKeys(this.#execution, { detachKeys, refused, failed })
    for await (const chunk of this.#context.stdin.chunks(this.#over.signal)) {
      if (typed.type(chunk)) return await this.#leaveTerminal(typed)
      await this.#unlessOver(typed.room())
    }
  }

  /** A terminal that swallows keys without a word looks as if it had died. */
  async #sayRefused(error: CallError): Promise<void> {
    await delay(endingMs, this.#over.signal)
    if (this.#over.signal.aborted) return
    const { id } = this.#execution
    const leave = this.#options.detachKeys === null ? "" : " The detach keys still leave it."
    await this.say(`${shortId(id)} gets none of your keys: ${describeError(error)}${leave}`)
  }

  async #leaveTerminal(typed: TypedKeys): Promise<void> {
    await Promise.race([typed.allTaken(), delay(lastKeysMs, this.#over.signal)])
    this.#unreadBytes = typed.unreadBytes
    this.#left.resolve(this.#detached(0, "aloud"))
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
}
