import type { HandedChild, HandedExecution } from "../../../execution/handover.ts"
import type { Position, TranscriptFacts } from "../../../execution/record.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { AgentChannel, type AgentChannelEvents } from "../agents/agent-channel.ts"
import type { Child, Clock, TranscriptWriter } from "../ports.ts"
import { retriedWhileShort } from "../shortages.ts"
import { type InputBefore, InputQueue } from "./input-queue.ts"
import { type Recorded, Recorder, type RecorderEvents, type RecorderSettings } from "./recorder.ts"

/** What the next program needs of a child, its input and its output. */
type HandedParts = Pick<
  HandedExecution,
  | "child"
  | "isInputClosed"
  | "inputWriters"
  | "answeredTo"
  | "transcript"
  | "agentHeld"
  | keyof Recorded
>

/** A child with what goes into it and what comes out of it, from its start to its end. */
export class SupervisedChild {
  readonly child: Child
  readonly input: InputQueue | null
  #transcript: TranscriptWriter | null = null
  #recorder: Recorder | null = null
  #floor: Position | null = null
  #released: HandedChild | null = null
  #agent: AgentChannel | null = null
  #agentHeld = ""

  constructor(child: Child, onInput: () => void, before?: InputBefore) {
    this.child = child
    this.input = child.input && new InputQueue(child.input, onInput, before)
  }

  /** Null where it is no host of an agent. */
  get agent(): AgentChannel | null {
    return this.#agent
  }

  hostAgent(clock: Clock, events: AgentChannelEvents, held?: string): void {
    const { status } = this.child
    if (status === null || this.input === null) return
    const taken = () => this.#recorder?.takenStdoutBytes ?? 0
    this.#agent = new AgentChannel(this.input, status, clock, taken, events, held)
  }

  /** Null until there is one: an earlier program's is gone through first. */
  get transcript(): TranscriptWriter | null {
    return this.#transcript
  }

  /** Null until the transcript is there to write to. */
  get recorder(): Recorder | null {
    return this.#recorder
  }

  record(
    transcript: TranscriptWriter,
    settings: RecorderSettings & { terminal: TerminalSize | null },
    clock: Clock,
    events: RecorderEvents,
    before?: Recorded,
  ): Recorder {
    this.#transcript = transcript
    // Whoever brings its screen back begins with a size, too.
    const first = before === undefined ? settings.terminal : null
    if (first !== null) transcript.appendResize(first, clock.now())
    const { outputs } = this.child
    const recorder = new Recorder(outputs, transcript, settings, clock, events, before)
    this.#recorder = recorder
    if (this.#floor !== null) recorder.setFloor(this.#floor)
    return recorder
  }

  /** Everything recorded so far survives a loss of power. */
  async sync(clock: Clock): Promise<void> {
    await retriedWhileShort(clock, () => this.#transcript?.sync())
  }

  resize(size: TerminalSize, time: Date): void {
    this.child.resize(size)
    this.#transcript?.appendResize(size, time)
  }

  /** Up to where every driver has taken the output; null when nobody drives. */
  setFloor(floor: Position | null): void {
    this.#floor = floor
    this.#recorder?.setFloor(floor)
  }

  /** Leaves it to the program that takes this process over; resolves when nothing is in hand. */
  async release(): Promise<void> {
    const isWritten = this.input?.release()
    this.#released = this.child.handOver()
    const held = this.#agent?.handOver()
    await Promise.all([isWritten, this.#recorder?.standStill(), held])
    this.#agentHeld = (await held) ?? ""
  }

  /** Null before it is released. */
  handOver(): HandedParts | null {
    const child = this.#released
    const recorded = this.#recorder?.recorded()
    const transcript = this.#transcript?.handOver()
    if (child === null || recorded === undefined || transcript === undefined) return null
    const isInputClosed = this.input?.isClosed ?? true
    const inputWriters = this.input?.writers ?? []
    const answeredTo = this.input?.answeredTo ?? null
    const agentHeld = this.#agentHeld
    return { child, isInputClosed, inputWriters, answeredTo, transcript, agentHeld, ...recorded }
  }
}

/** What its input was before a handover. */
export function inputBefore(
  { isInputClosed: isClosed, inputWriters: writers, answeredTo }: HandedExecution,
  taken: number,
  { end }: TranscriptFacts,
): InputBefore {
  // A program that knew no answers has left them to the terminals that were attached.
  return { taken, isClosed, writers, answeredTo: answeredTo ?? end.sequence }
}
