import type { MethodName, ParamsOf, ResultOf } from "../protocol/methods.ts"
import type { RemoteExecution } from "./remote-execution.ts"
import { SessionLog, type SessionNotice } from "./session-log.ts"

type Call = <Name extends MethodName>(
  method: Name,
  params: ParamsOf<Name>,
) => Promise<ResultOf<Name>>

type About<Name extends MethodName> = Omit<ParamsOf<Name>, "execution_id">

/** A session of an agent, followed across reconnects. */
export class AgentSession implements AsyncDisposable {
  readonly execution: RemoteExecution
  readonly #call: Call

  constructor(execution: RemoteExecution, call: Call) {
    this.execution = execution
    this.#call = call
  }

  get id(): string {
    return this.execution.id
  }

  /**
   * Ends with the session, or with `detach`; one consumer at a time. Whoever has read what comes
   * before gives the log that was read with, which may end inside a line.
   */
  async *events(log = new SessionLog()): AsyncGenerator<SessionNotice> {
    for await (const said of this.execution.output()) {
      if (said.kind === "output") yield* log.add(said.stream, said.text ?? "")
      if (said.kind !== "gap") continue
      log.cut()
      yield said
    }
  }

  /** Comes back when the turn is on record. */
  async send(turn: string | About<"agent.send">): Promise<string> {
    const asked = typeof turn === "string" ? { text: turn } : turn
    return (await this.#call("agent.send", { execution_id: this.id, ...asked })).turn_id
  }

  async answer(answer: About<"agent.answer">): Promise<void> {
    await this.#call("agent.answer", { execution_id: this.id, ...answer })
  }

  async interrupt(): Promise<void> {
    await this.#call("agent.interrupt", { execution_id: this.id })
  }

  async configure(change: About<"agent.configure">): Promise<void> {
    await this.#call("agent.configure", { execution_id: this.id, ...change })
  }

  /** Lets the turn finish, then ends the session. */
  async end(): Promise<void> {
    await this.#call("agent.end", { execution_id: this.id })
  }

  status(): Promise<ResultOf<"agent.status">> {
    return this.#call("agent.status", { execution_id: this.id })
  }

  /** What has changed in its worktree. */
  changes(): Promise<ResultOf<"agent.changes">> {
    return this.#call("agent.changes", { execution_id: this.id })
  }

  detach(): Promise<void> {
    return this.execution.detach()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach()
  }
}
