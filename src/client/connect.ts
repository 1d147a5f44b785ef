import { z } from "zod"
import { ignoreUnhandledRejection } from "../lib/ignore-unhandled-rejection.ts"
import type { Result } from "../lib/result.ts"
import type { Encoding, Labels } from "../protocol/execute.ts"
import type { MethodName, ParamsOf, ResultOf, Role } from "../protocol/methods.ts"
import { AgentSession } from "./agent-session.ts"
import { Calls } from "./calls/calls.ts"
import { StandardInput } from "./calls/standard-input.ts"
import { AlreadyAttachedError } from "./client-error.ts"
import { type ClientLimits, defaultLimits } from "./client-limits.ts"
import { Connection, type ConnectionState } from "./connection/connection.ts"
import {
  headersFor,
  type OpenSocket,
  openSocket,
  socketUrl,
  type TokenSource,
} from "./connection/open-socket.ts"
import { defaultReconnectPolicy, type ReconnectPolicy } from "./connection/reconnect-policy.ts"
import type { Greeting, Session } from "./connection/session.ts"
import { Deliveries } from "./output/deliveries.ts"
import type { Delivery } from "./output/delivery.ts"
import type { ScreenOptions } from "./output/delivery-options.ts"
import { randomName } from "./random-name.ts"
import { type RemoteExecution, remoteExecution } from "./remote-execution.ts"
import type { Watch } from "./watch/watch.ts"
import { Watches } from "./watch/watches.ts"

export type ClientOptions = {
  /** `ws://host:8003/ws/mcp`; `http(s)://host:8003` means the same. */
  url: string
  /**
   * Sent as `Authorization: Bearer …` with every socket that is opened. Not in a browser, which
   * cannot: there `openSocket` opens one that carries a ticket. A source that throws closes the
   * client for good.
   */
  token?: TokenSource
  /** How a socket is opened, where `new WebSocket(url)` will not do. */
  openSocket?: OpenSocket
  reconnect?: ReconnectPolicy
  onConnection?: (state: ConnectionState) => void
  limits?: Partial<ClientLimits>
}

export type FollowOptions = {
  /** `ignore` drops output as it comes, for those who wait for the end alone. */
  output?: "keep" | "ignore"
}

export type AttachOptions = FollowOptions & {
  /** A cursor, `start` (the default) or `tail`. */
  from?: string
  role?: Role
  encoding?: Encoding
  /** Of a terminal: begin with what it shows instead of `from`, also after every cut. */
  screen?: ScreenOptions
}

/** Connects in the background; whatever is asked waits for it. */
export function connect(options: ClientOptions): Client {
  const url = socketUrl(options.url)
  if (!url.ok) throw new TypeError(url.failure)
  return new Client(url.value, options)
}

const AboutExecution = z.object({ execution_id: z.string() })

export class Client implements AsyncDisposable {
  /** The first greeting; rejects when the client is closed for good before there was one. */
  readonly connected: Promise<Greeting>
  readonly #connection: Connection
  readonly #calls: Calls
  readonly #deliveries: Deliveries
  readonly #watches: Watches

  constructor(url: string, options: ClientOptions) {
    const open = options.openSocket ?? openSocket
    const limits = { ...defaultLimits, ...options.limits }
    this.#connection = new Connection(
      {
        openSocket: async () => open(url, await headersFor(options.token)),
        reconnect: options.reconnect ?? defaultReconnectPolicy,
        limits,
        onConnection: options.onConnection ?? (() => undefined),
      },
      {
        received: (incoming, session) => {
          if (incoming.kind === "changed") this.#watches.changed(incoming.view)
          else this.#deliveries.receive(incoming, session)
        },
        ended: (session) => this.#deliveries.sessionEnded(session),
      },
    )
    this.connected = this.#connection.greeted
    this.#calls = new Calls(this.#connection)
    this.#deliveries = new Deliveries({ connection: this.#connection, limits })
    this.#watches = new Watches(this.#connection)
  }

  /**
   * One request. It waits for a connection, and is sent again after a cut where that is safe; else
   * it rejects with a ConnectionLostError. A refusal rejects with a CallError.
   */
  async call<Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    options: { signal?: AbortSignal } = {},
  ): Promise<ResultOf<Name>> {
    if (method === "attach" || method === "detach") this.#refuseIfFollowed(params)
    return this.#calls.result(method, withIdempotencyKey(method, params), options)
  }

  async execute(
    params: ParamsOf<"execute">,
    options: FollowOptions = {},
  ): Promise<RemoteExecution> {
    const followed = Promise.withResolvers<Delivery>()
    ignoreUnhandledRejection(followed.promise)
    const request = withIdempotencyKey("execute", { ...params, acknowledges: true })
    await this.#calls.result("execute", request, {
      answered: (answer, session) => {
        const delivery = this.#followStarted(params, options, answer, session)
        if (delivery.ok) return followed.resolve(delivery.value)
        this.#deliveries.attachAgain(answer.execution_id)
        followed.reject(delivery.failure)
      },
    })
    return remoteExecution(await followed.promise, this.#calls)
  }

  async attach(executionId: string, options: AttachOptions = {}): Promise<RemoteExecution> {
    // The whole id (a prefix may have been given) and the pid, which the answer to an attach lacks.
    const view = await this.#calls.result("status", { execution_id: executionId })
    const delivery = this.#deliveries.start({
      executionId: view.execution_id,
      pid: view.pid,
      from: options.from ?? "start",
      role: options.role ?? "observer",
      encoding: options.encoding ?? "utf8",
      output: options.output ?? "keep",
      screen: options.screen ?? null,
      attached: null,
      firstRefusalIsFinal: true,
    })
    if (!delivery.ok) throw delivery.failure
    await delivery.value.ready
    return remoteExecution(delivery.value, this.#calls)
  }

  /** Starts an agent's session and follows it from its first event on. */
  async startAgent(params: ParamsOf<"agent.start">): Promise<AgentSession> {
    const { execution_id } = await this.call("agent.start", params)
    return this.attachAgent(execution_id)
  }

  async attachAgent(
    executionId: string,
    options: Pick<AttachOptions, "from"> = {},
  ): Promise<AgentSession> {
    const execution = await this.attach(executionId, options)
    return new AgentSession(execution, (method, asked) => this.call(method, asked))
  }

  /** Writes to an execution without following it; several may write at a time. */
  input(executionId: string): StandardInput {
    return new StandardInput(executionId, this.#calls)
  }

  watch(labels: Labels = {}): Watch {
    return this.#watches.add(labels)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #followStarted(
    params: ParamsOf<"execute">,
    options: FollowOptions,
    answer: ResultOf<"execute">,
    session: Session,
  ): Result<Delivery, AlreadyAttachedError> {
    const { subscription, ack_after_bytes: ackAfterBytes = null } = answer
    // Where an earlier execution was found again, only an attach says where its output begins.
    const isAttached = answer.repeated !== true && subscription !== undefined
    return this.#deliveries.start({
      executionId: answer.execution_id,
      pid: answer.status === "started" ? answer.pid : null,
      from: "start",
      role: "driver",
      encoding: params.encoding ?? "utf8",
      output: options.output ?? "keep",
      screen: null,
      attached: isAttached ? { session, subscription, ackAfterBytes } : null,
      firstRefusalIsFinal: false,
    })
  }

  /** A subscription has one owner: by hand it would be moved from under the one who follows. */
  #refuseIfFollowed(params: unknown): void {
    const about = AboutExecution.safeParse(params)
    if (about.success && this.#deliveries.followsAny(about.data.execution_id)) {
      throw new AlreadyAttachedError(about.data.execution_id)
    }
  }
}

/** Gives what would be done twice a name, so that sending it again after a cut does it once. */
function withIdempotencyKey<Params>(method: MethodName, params: Params): Params {
  if (method === "agent.send" && typeof params === "object" && params !== null) {
    return "turn_id" in params ? params : { ...params, turn_id: randomName() }
  }
  const starts = method === "execute" || method === "agent.start" || method === "trial.begin"
  if (!starts || typeof params !== "object" || params === null) return params
  if ("idempotency_key" in params && params.idempotency_key !== undefined) return params
  return { ...params, idempotency_key: randomName() }
}
