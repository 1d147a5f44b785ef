import type { AgentSession } from "../../../client/agent-session.ts"
import { CallError, ConnectionLostError } from "../../../client/client-error.ts"
import { randomName } from "../../../client/random-name.ts"
import type { SessionLog, SessionNotice } from "../../../client/session-log.ts"
import type { TurnOutcome } from "../../../execution/agent.ts"
import { shortId } from "../../../execution/id.ts"
import { nextCommand } from "../../connect/next-command.ts"
import type { Context } from "../../context.ts"
import { describeError } from "../../failure.ts"
import { untilTold } from "../../terminal/interrupts.ts"
import { endOfWorktree } from "../changes-text.ts"
import { bottomOf } from "./bottom.ts"
import { Conversation } from "./conversation.ts"
import { type Line, line } from "./line.ts"
import type { NoticeOutput } from "./notice-output.ts"
import { pressKey } from "./press-key.ts"
import { withText } from "./prompt-line.ts"
import { Screen } from "./screen.ts"
import { factsAfter, isBusy, type SessionFacts, statusText } from "./status-line.ts"
import { TypedInput } from "./typed-input.ts"
import { type Answer, initialState, type ViewAction, type ViewState } from "./view-state.ts"

/** How long a question is there before a key answers it. */
const freshMs = 500
/** The status line counts seconds. */
const tickMs = 1_000
/** Of what was said before somebody came: the rest is in `logs`. */
const mostPastLines = 300

export type Begun = {
  session: AgentSession
  /** What came before; `log` goes on with what follows. */
  past: readonly SessionNotice[]
  log: SessionLog
  /** Whether there was more before that. */
  isCut: boolean
  /** Turns that were sent from here already. */
  ownTurns: readonly string[]
  /** By which whoever looks is known; null where the service does not say. */
  principal: string | null
  /** Whether it works in a git worktree of its own. */
  hasWorktree: boolean
}

/** Shows a session until it ends or is left; answers the exit code. */
export function viewSession(
  context: Context,
  notices: NoticeOutput,
  begun: Begun,
): Promise<number> {
  return new SessionView(context, notices, begun).run()
}

type End = { kind: "left"; exitCode: number } | { kind: "ended" }

class SessionView {
  readonly #context: Context
  readonly #notices: NoticeOutput
  readonly #begun: Begun
  readonly #session: AgentSession
  readonly #ownTurns: Set<string>
  readonly #ownAnswers = new Set<string>()
  readonly #conversation: Conversation
  readonly #screen: Screen
  readonly #over = new AbortController()
  readonly #end = Promise.withResolvers<End>()
  #isPast = true
  #state: ViewState = initialState
  #facts: SessionFacts = {}
  #asked = { questionId: "", atMs: 0 }
  #lastOutcome: TurnOutcome | null = null

  constructor(context: Context, notices: NoticeOutput, begun: Begun) {
    this.#context = context
    this.#notices = notices
    this.#begun = begun
    this.#session = begun.session
    this.#ownTurns = new Set(begun.ownTurns)
    this.#conversation = new Conversation({
      isTurn: (turnId, by) => this.#ownTurns.has(turnId) || this.#wasMe(by),
      isAnswer: (questionId, by) => this.#ownAnswers.has(questionId) || this.#wasMe(by),
    })
    const failed = (error: unknown) => this.#end.reject(error)
    this.#screen = new Screen(context, (...size) => this.#bottom(...size), failed)
  }

  async run(): Promise<number> {
    return this.#finish(await this.#show())
  }

  async #show(): Promise<End> {
    const { stdin, signals } = this.#context
    using stack = new DisposableStack()
    const raw = stack.use(stdin.rawMode())
    const told = stack.use(untilTold(this.#context))
    told.signal.addEventListener("abort", () => this.#leave(told.exitCode ?? 0))
    stack.use(signals.on("SIGWINCH", () => this.#screen.refresh()))
    stack.use(signals.on("SIGCONT", () => this.#continued(raw)))
    stack.defer(this.#notices.redirect((text) => this.#screen.add([line(text)])))
    const ticks = setInterval(() => this.#screen.redraw(), tickMs)
    stack.defer(() => clearInterval(ticks))
    await this.#screen.open()
    this.#screen.add(this.#pastLines())
    this.#isPast = false
    this.#inBackground(() => this.#takeKeys())
    this.#inBackground(() => this.#follow())
    try {
      return await this.#end.promise
    } finally {
      this.#over.abort()
      await this.#screen.close()
    }
  }

  #pastLines(): Line[] {
    const { past, isCut } = this.#begun
    const lines = past.flatMap((notice) => this.#read(notice))
    const shown = lines.slice(-mostPastLines)
    if (!isCut && shown.length === lines.length) return shown
    const logs = nextCommand(this.#context, "logs", shortId(this.#session.id))
    return [line(`… what was said earlier: ${logs}`, { colour: "dim" }), ...shown]
  }

  /** Of what was before: now, whoever has the same name sits somewhere else. */
  #wasMe(by: string): boolean {
    return this.#isPast && by === this.#begun.principal
  }

  async #follow(): Promise<void> {
    for await (const notice of this.#session.events(this.#begun.log)) {
      this.#screen.add(this.#read(notice))
      await this.#screen.room()
    }
    this.#end.resolve({ kind: "ended" })
  }

  #read(notice: SessionNotice): Line[] {
    if (notice.kind === "event") {
      this.#facts = factsAfter(this.#facts, notice.event)
      if (notice.event.event === "turn-ended") this.#turnEnded(notice.event.outcome)
    }
    const lines = this.#conversation.read(notice)
    const questionId = this.#conversation.questions[0]?.question_id ?? ""
    if (questionId !== this.#asked.questionId) {
      this.#asked = { questionId, atMs: performance.now() }
      // What was made of another question's input is no answer to this one.
      if (this.#state.editing !== null) {
        const message = `Question ${this.#state.editing.question_id} was answered meanwhile.`
        this.#state = { ...initialState, prompt: this.#state.prompt, message }
      }
    }
    return lines
  }

  #turnEnded(outcome: TurnOutcome): void {
    this.#lastOutcome = outcome
    // Ctrl-C did what it was pressed for: in the next turn it will not mean to leave.
    if (this.#state.isLeaving) this.#state = { ...this.#state, isLeaving: false, message: "" }
  }

  async #takeKeys(): Promise<void> {
    const input = new TypedInput()
    for await (const bytes of this.#context.stdin.chunks(this.#over.signal)) {
      for (const key of input.read(bytes)) {
        const { state, action } = pressKey(this.#state, key, {
          question: this.#conversation.questions[0] ?? null,
          isFresh: performance.now() - this.#asked.atMs < freshMs,
          isBusy: isBusy(this.#facts),
        })
        this.#state = state
        this.#perform(action)
      }
      this.#screen.redraw()
    }
    if (!this.#over.signal.aborted) this.#leave(0) // the terminal has no more keys
  }

  #perform(action: ViewAction): void {
    switch (action.kind) {
      case "send":
        return this.#inBackground(() => this.#send(action.text))
      case "answer":
        return this.#inBackground(() => this.#answer(action.answer))
      case "interrupt":
        return this.#inBackground(() => this.#orSay(this.#session.interrupt()))
      case "leave":
        return this.#leave(0)
      case "redraw":
        return this.#screen.refresh()
      case "none":
    }
  }

  async #send(text: string): Promise<void> {
    const turn_id = randomName()
    this.#ownTurns.add(turn_id)
    if (await this.#orSay(this.#session.send({ text, turn_id }))) return
    const { prompt } = this.#state
    if (prompt.text === "") this.#state = { ...this.#state, prompt: withText(prompt, text) }
  }

  async #answer(answer: Answer): Promise<void> {
    this.#ownAnswers.add(answer.question_id)
    if (await this.#orSay(this.#session.answer(answer))) return
    this.#ownAnswers.delete(answer.question_id)
  }

  /** Says why something was refused; answers whether it was done. */
  async #orSay(done: Promise<unknown>): Promise<boolean> {
    try {
      await done
      return true
    } catch (error) {
      if (!(error instanceof CallError || error instanceof ConnectionLostError)) throw error
      this.#state = { ...this.#state, message: describeError(error) }
      this.#screen.redraw()
      return false
    }
  }

  #bottom(...[size, colours]: Parameters<ConstructorParameters<typeof Screen>[1]>) {
    const { unfinished, waiting, questions } = this.#conversation
    const status = statusText(this.#facts, this.#context.now())
    const shown = { state: this.#state, unfinished, waiting, questions, status }
    return bottomOf(shown, size, colours)
  }

  #continued(raw: { renew(): void }): void {
    raw.renew()
    this.#inBackground(() => this.#screen.open())
  }

  #leave(exitCode: number): void {
    this.#end.resolve({ kind: "left", exitCode })
  }

  async #finish(end: End): Promise<number> {
    const id = shortId(this.#session.id)
    if (end.kind === "left") {
      await this.#context.stderr.write(
        `The session goes on. Come back with: ${nextCommand(this.#context, "agent attach", id)}; ` +
          `end it with: ${nextCommand(this.#context, "agent end", id)}\n`,
      )
      return end.exitCode
    }
    const { exit_code, cause } = await this.#session.execution.ended
    const why = cause === null || cause === undefined ? "" : ` (${cause})`
    const resume = nextCommand(this.#context, "claude", "--resume", id)
    await this.#context.stderr.write(`The session has ended${why}. Go on with it: ${resume}\n`)
    if (this.#begun.hasWorktree) await this.#tellChanges()
    return exit_code === 0 && (this.#lastOutcome ?? "success") === "success" ? 0 : 1
  }

  async #tellChanges(): Promise<void> {
    const told = await this.#session.changes().then(
      (changes) => endOfWorktree(this.#context, this.#session.id, changes),
      (error: unknown) => describeError(error),
    )
    await this.#context.stderr.write(`${told}\n`)
  }

  #inBackground(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#end.reject(error)
    })
  }
}
