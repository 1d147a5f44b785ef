import { messageOf } from "../../lib/errno.ts"
import { fail } from "../../lib/result.ts"
import { SerialQueue } from "../../lib/serial-queue.ts"
import type { TurnContent } from "../../protocol/agent-orders.ts"
import type { PipeInput } from "../../service/os/children/pipe-input.ts"
import type { PipeOutput } from "../../service/os/children/pipe-output.ts"
import { LineSplitter } from "../host/line-splitter.ts"
import type { AgentEvents, AgentProcess, AnswerToAgent } from "../port.ts"
import { elicitationAnswer, toolAnswer } from "./answers.ts"
import { type Fields, fieldsOf, textOf } from "./fields.ts"
import { finishedBefore, GivenTurn } from "./given-turn.ts"
import { isToBeUnderstood, notJson, readLine } from "./read-line.ts"
import { signalsOf, totalUsageOf } from "./read-message.ts"
import { type Command, spawnClaude } from "./spawn-claude.ts"

/** How long Claude Code may take to answer what it is asked about itself. */
const answerMs = 15_000
/** Of what it writes to standard error, this much is kept to explain its end. */
const complaintCharacters = 2000

type Pending = (response: Fields | null) => void

/** One run of Claude Code, spoken with in JSON on its standard input and output. */
export class ClaudeProcess implements AgentProcess {
  readonly ended: Promise<string>
  readonly #child: Bun.Subprocess
  readonly #input: PipeInput
  readonly #writes = new SerialQueue()
  readonly #events: AgentEvents
  readonly #uuidOf: (turnId: string) => string
  readonly #complained: Command["complained"]
  readonly #pending = new Map<string, Pending>()
  /** Questions that were asked, by the id they were asked with. */
  readonly #asked = new Map<string, string>()
  /** The turn that it was given last. */
  #given: GivenTurn | null = null
  #complaints = ""
  #requests = 0

  constructor(command: Command, events: AgentEvents, uuidOf: (turnId: string) => string) {
    this.#events = events
    this.#uuidOf = uuidOf
    this.#complained = command.complained
    const { child, input, output, errors } = spawnClaude(command)
    this.#child = child
    this.#input = input
    this.ended = this.#follow(output, errors)
    void this.#begin()
  }

  get pid(): number {
    return this.#child.pid
  }

  send(turnId: string, content: TurnContent): void {
    const uuid = this.#uuidOf(turnId)
    this.#given = new GivenTurn(uuid)
    this.#say({ type: "user", message: { role: "user", content }, uuid })
  }

  answer(requestId: string, answer: AnswerToAgent): void {
    const subtype = this.#asked.get(requestId)
    this.#asked.delete(requestId)
    const isTool = subtype === "can_use_tool"
    const response = isTool ? toolAnswer(answer) : elicitationAnswer(answer)
    this.#respond(requestId, { subtype: "success", response })
  }

  async interrupt(): Promise<boolean> {
    return (await this.#ask({ subtype: "interrupt" })) !== null
  }

  async configure(change: {
    model: string | null
    permissionMode: string | null
  }): Promise<string | null> {
    const { model, permissionMode } = change
    if (model !== null) {
      const response = await this.#ask({ subtype: "set_model", model })
      if (response === null || response["subtype"] === "error") return refusal(response)
      this.#events.signal({ kind: "configured", model, permissionMode: null })
    }
    if (permissionMode !== null) {
      const asked = { subtype: "set_permission_mode", mode: permissionMode }
      const response = await this.#ask(asked)
      if (response === null || response["subtype"] === "error") return refusal(response)
      this.#events.signal({ kind: "configured", model: null, permissionMode })
    }
    return null
  }

  askForUsage(): void {
    void this.#tellUsage()
  }

  endInput(): void {
    void this.#writes.run(async () => this.#input.close())
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    this.#child.kill(signal)
  }

  async #begin(): Promise<void> {
    const hooks = { PreToolUse: [{ hookCallbackIds: [everyToolUse] }] }
    const asked = this.#events.mustAsk === null ? {} : { hooks }
    const response = await this.#ask({ subtype: "initialize", ...asked })
    if (response !== null) this.#events.signal({ kind: "ready" })
  }

  async #tellUsage(): Promise<void> {
    const response = await this.#ask({ subtype: "get_usage" })
    const session = fieldsOf(fieldsOf(response?.["response"])["session"])
    if (session["total_cost_usd"] === undefined) return
    this.#events.signal({ kind: "cost", usage: totalUsageOf(session) })
  }

  async #follow(output: PipeOutput, errors: PipeOutput): Promise<string> {
    const splitter = new LineSplitter(
      {
        line: (text) => this.#hear(text),
        part: (part) => this.#events.messagePart(part),
        heldLine: (text) => this.#hearHeld(text),
      },
      isToBeUnderstood,
    )
    const read = async () => {
      for (let bytes = await output.read(); bytes !== null; bytes = await output.read()) {
        this.#events.heard()
        splitter.push(bytes)
      }
      splitter.end()
    }
    const complaining = this.#readComplaints(errors)
    const reading = read()
    await this.#child.exited
    // What it has started may hold its pipes open: its own last words are there by now.
    const grace = setTimeout(() => {
      output.cancel()
      errors.cancel()
    }, 1000)
    await Promise.allSettled([reading, complaining])
    clearTimeout(grace)
    this.#input.close()
    for (const answer of this.#pending.values()) answer(null)
    this.#pending.clear()
    return this.#howItEnded()
  }

  #howItEnded(): string {
    const { exitCode, signalCode } = this.#child
    const how = signalCode === null ? `exited with ${exitCode}` : `was killed by ${signalCode}`
    const said = this.#complaints.trim()
    return said === "" ? how : `${how}: ${said.slice(-complaintCharacters)}`
  }

  async #readComplaints(errors: PipeOutput): Promise<void> {
    for (let bytes = await errors.read(); bytes !== null; bytes = await errors.read()) {
      this.#complained(bytes)
      const text = Buffer.from(bytes).toString("utf8")
      this.#complaints = (this.#complaints + text).slice(-complaintCharacters)
    }
  }

  #hear(text: string): void {
    const read = readLine(text)
    if (read.ok) {
      this.#events.message(text)
      this.#understand(read.value)
      return
    }
    // Whoever reads the log would take it apart as well.
    if (read.failure !== notJson) this.#events.messagePart({ text, part: 0, isLast: true })
    const beginning = JSON.stringify(text.slice(0, 200))
    const problem = `Claude Code wrote a line that is ${read.failure}: ${beginning}`
    this.#events.signal({ kind: "problem", problem })
  }

  /** It is in the transcript in parts already. */
  #hearHeld(text: string | null): void {
    const read = text === null ? fail("too long to be understood") : readLine(text)
    if (read.ok) return this.#understand(read.value)
    const problem = `Claude Code wrote a long line that is ${read.failure}.`
    this.#events.signal({ kind: "problem", problem })
  }

  #understand(message: Fields): void {
    if (message["type"] === "control_response") {
      this.#settle(fieldsOf(message["response"]))
      return
    }
    if (message["type"] === "control_request" && !this.#note(message)) return
    if (this.#given?.wasFinishedBefore(message) === true) {
      const problem = "The turn had been finished before; its result is not on record."
      this.#events.signal({ kind: "problem", problem })
      this.#events.signal({ kind: "turn-ended", ...finishedBefore })
    }
    for (const signal of signalsOf(message)) {
      const isEnd = signal.kind === "turn-ended"
      const isAgentsOwn = isEnd && this.#given?.isEndedBy(message) !== true
      this.#events.signal(isEnd ? { ...signal, isAgentsOwn } : signal)
    }
  }

  #settle(response: Fields): void {
    const id = textOf(response["request_id"]) ?? ""
    this.#pending.get(id)?.(response)
    this.#pending.delete(id)
  }

  /** Whether somebody is to be asked; what nobody can answer is refused at once. */
  #note(message: Fields): boolean {
    const id = textOf(message["request_id"])
    const subtype = textOf(fieldsOf(message["request"])["subtype"]) ?? "none"
    if (id === null) return false
    if (this.#asked.has(id)) {
      const problem = `Claude Code used the id ${id} for a second question.`
      this.#events.signal({ kind: "problem", problem })
      return false
    }
    if (subtype === "hook_callback") {
      this.#judge(id, fieldsOf(fieldsOf(message["request"])["input"]))
      return false
    }
    if (answerable.has(subtype)) {
      this.#asked.set(id, subtype)
      return true
    }
    this.#respond(id, { subtype: "error", error: `${subtype} is not supported here` })
    const problem = `Claude Code asked for ${subtype}, which is not supported: it was refused.`
    this.#events.signal({ kind: "problem", problem })
    return false
  }

  /** It is told to ask where a rule denies it, also what it would have done without asking. */
  #judge(id: string, use: Fields): void {
    const mustAsk = this.#events.mustAsk?.(textOf(use["tool_name"]), use["tool_input"]) === true
    const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision: "ask" }
    this.#respond(id, { subtype: "success", response: mustAsk ? { hookSpecificOutput } : {} })
  }

  /** Null when it does not answer. */
  #ask(request: Fields): Promise<Fields | null> {
    this.#requests += 1
    const request_id = `host-${this.#requests}`
    const { promise, resolve } = Promise.withResolvers<Fields | null>()
    const timer = setTimeout(() => {
      this.#pending.delete(request_id)
      resolve(null)
    }, answerMs)
    this.#pending.set(request_id, (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    this.#say({ type: "control_request", request_id, request })
    return promise
  }

  #respond(request_id: string, response: Fields): void {
    this.#say({ type: "control_response", response: { ...response, request_id } })
  }

  /** In order, each whole: a line that is no JSON would end it. */
  #say(message: Fields): void {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`, "utf8")
    void this.#writes
      .run(() => this.#input.write(bytes))
      .catch((error: unknown) => {
        const problem = `Could not write to Claude Code: ${messageOf(error)}`
        this.#events.signal({ kind: "problem", problem })
      })
  }
}

/** Our name for the hook by which it tells every use of a tool beforehand. */
const everyToolUse = "every-tool-use"

const answerable = new Set(["can_use_tool", "elicitation", "request_user_dialog"])

function refusal(response: Fields | null): string {
  if (response === null) return `Claude Code did not answer within ${answerMs / 1000} s.`
  const why = textOf(response["error"])?.slice(0, complaintCharacters)
  return `Claude Code refused: ${why ?? "it does not say why"}.`
}
