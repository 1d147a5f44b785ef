import { expect } from "bun:test"
import type { ExecutionView } from "../../src/protocol/execution-view.ts"
import { RawSession } from "./raw-session.ts"
import { Service, type ServiceOptions } from "./service.ts"
import { bearing, makeToken } from "./tokens.ts"

/** A service with an execution that has ended and one that runs: no refusal may touch them. */
export class Bystanders implements AsyncDisposable {
  readonly service: Service
  readonly session: RawSession
  readonly token: string
  readonly ended: string
  readonly running: string

  private constructor(
    service: Service,
    session: RawSession,
    token: string,
    ended: string,
    running: string,
  ) {
    this.service = service
    this.session = session
    this.token = token
    this.ended = ended
    this.running = running
  }

  static async start(options: ServiceOptions = {}): Promise<Bystanders> {
    const service = await Service.start(options)
    const token = await makeToken(service.stateDir, { name: "bystander", scope: "admin" })
    const session = await RawSession.open(await service.url(), bearing(token))
    const { id: ended } = await session.run({ argv: ["/bin/echo", "bystander"] })
    const started = await session.call("execute", { argv: ["/bin/cat"], stdin: "pipe" })
    return new Bystanders(service, session, token, ended, started.execution_id)
  }

  /** Runs something that must have no effect, and looks that it had none. */
  async untouchedBy<Value>(act: () => Promise<Value>): Promise<Value> {
    const before = await this.#look()
    const value = await act()
    expect(await this.#look()).toEqual(before)
    return value
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.session[Symbol.dispose]()
    await this.service[Symbol.asyncDispose]()
  }

  async #look(): Promise<Omit<ExecutionView, "execution_time">[]> {
    const { executions } = await this.session.call("list", { limit: 1000 })
    return executions.map(withoutClock)
  }
}

function withoutClock(view: ExecutionView): Omit<ExecutionView, "execution_time"> {
  const { execution_time: _, ...rest } = view
  return rest
}
