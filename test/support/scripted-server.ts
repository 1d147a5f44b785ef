import type { Server } from "bun"
import type { Failure } from "../../src/protocol/failure.ts"
import {
  errorMessage,
  notificationMessage,
  type RequestId,
  readRequest,
  resultMessage,
} from "../../src/protocol/json-rpc.ts"
import { isMethodName, type MethodName, methods } from "../../src/protocol/methods.ts"
import { answerTo, type GivenParams } from "./scripted-answers.ts"
import { ScriptedExecution } from "./scripted-execution.ts"
import type { ScriptedSocket, SessionData } from "./scripted-subscription.ts"

/** What happens to the next request of a method, instead of being served. */
export type Rule =
  /** The socket goes before anything is done. */
  | { kind: "cut" }
  /** It is done, but the socket goes before the answer. */
  | { kind: "serve-then-cut" }
  | { kind: "hold" }
  /** It is done now and answered later; what is asked or said meanwhile comes before. */
  | { kind: "answer-after"; event: Promise<void> }
  | { kind: "serve" }
  | { kind: "refuse"; failure: Failure }

export type GreetingRule =
  | { kind: "silent" }
  | { kind: "refuse"; failure: Failure }
  | { kind: "say"; data: string | Uint8Array }

export type SeenRequest = { method: MethodName; params: GivenParams; session: number }

/** A server that speaks the protocol about executions that exist only in a test's script. */
export class ScriptedServer implements AsyncDisposable {
  readonly executions: ScriptedExecution[] = []
  readonly requests: SeenRequest[] = []
  readonly sockets = new Set<ScriptedSocket>()
  readonly port: number
  sessions = 0
  /** Runs for what `execute` starts, before the answer. */
  onExecute: (execution: ScriptedExecution) => void = () => undefined
  /** Answers a request before anything else is done with it; null lets it through. */
  guard: (request: Request) => Response | null = () => null

  readonly #rules = new Map<MethodName, Rule[]>()
  readonly #greetings: GreetingRule[] = []
  #server: Server<SessionData>
  #changed = Promise.withResolvers<void>()
  #created = 0

  constructor() {
    this.#server = this.#serve(0)
    this.port = this.#server.port ?? 0
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws/mcp`
  }

  next(method: MethodName, ...rules: Rule[]): void {
    this.#rules.set(method, [...(this.#rules.get(method) ?? []), ...rules])
  }

  nextGreeting(...rules: GreetingRule[]): void {
    this.#greetings.push(...rules)
  }

  seen(method: MethodName): SeenRequest[] {
    return this.requests.filter((request) => request.method === method)
  }

  /** Resolves when something is true; looked at whenever a request or a socket comes or goes. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await this.#changed.promise
  }

  cut(): void {
    for (const socket of this.sockets) socket.terminate()
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  start(): void {
    this.#server = this.#serve(this.port)
  }

  add(labels: Record<string, string> = {}, key: string | null = null): ScriptedExecution {
    this.#created += 1
    const execution = new ScriptedExecution(this.#created, key, labels)
    this.executions.push(execution)
    return execution
  }

  find(id: string): ScriptedExecution | null {
    return this.executions.find((execution) => execution.id.startsWith(id)) ?? null
  }

  write(execution: ScriptedExecution, data: string | Uint8Array): void {
    execution.append("stdout", typeof data === "string" ? Buffer.from(data) : data)
    this.#advance(execution)
  }

  /** Null: it was canceled. */
  complete(execution: ScriptedExecution, exitCode: number | null): void {
    execution.state = "ended"
    execution.exitCode = exitCode
    this.#advance(execution)
    this.announce(execution)
  }

  change(execution: ScriptedExecution, state: "paused" | "running"): void {
    execution.state = state
    const method = state === "paused" ? "process.paused" : "process.resumed"
    this.notify(execution, method, execution.lifeSign())
    this.announce(execution)
  }

  /** Tells the watchers. */
  announce(execution: ScriptedExecution): void {
    for (const socket of this.sockets) {
      const labels = socket.data.watching
      if (labels === null || !execution.has(labels)) continue
      socket.send(notificationMessage("execution.changed", execution.view()))
    }
  }

  /** Says something to everybody who is attached. */
  notify(execution: ScriptedExecution, method: string, params: object): void {
    for (const socket of this.sockets) {
      if (!socket.data.subscriptions.has(execution.id)) continue
      socket.send(notificationMessage(method, { execution_id: execution.id, ...params }))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #serve(port: number): Server<SessionData> {
    return Bun.serve<SessionData>({
      hostname: "127.0.0.1",
      port,
      fetch: (request, server) => {
        const answer = this.guard(request)
        if (answer !== null) return answer
        this.sessions += 1
        const data = newSession(this.sessions)
        return server.upgrade(request, { data }) ? undefined : new Response(null, { status: 400 })
      },
      websocket: {
        open: (socket) => this.#open(socket),
        message: (socket, message) => this.#receive(socket, String(message)),
        drain: (socket) => socket.data.drained.resolve(),
        close: (socket) => {
          this.sockets.delete(socket)
          socket.data.isOpen = false
          socket.data.drained.resolve()
          this.#note()
        },
      },
    })
  }

  #note(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  #open(socket: ScriptedSocket): void {
    this.sockets.add(socket)
    const rule = this.#greetings.shift()
    this.#note()
    if (rule === undefined) {
      const session_id = `session-${socket.data.number}`
      const greeting = { session_id, version: "0", capabilities: ["execute"] }
      socket.send(notificationMessage("connected", greeting))
    } else if (rule.kind === "say") {
      socket.send(rule.data)
    } else if (rule.kind === "refuse") {
      socket.send(errorMessage(null, rule.failure))
      socket.close(1008, rule.failure.reason)
    }
  }

  #receive(socket: ScriptedSocket, text: string): void {
    const request = readRequest(text)
    if (!request.ok || request.value.id === undefined || !isMethodName(request.value.method)) {
      throw new Error(`This is no request of the protocol: ${text.slice(0, 200)}`)
    }
    const { id, method } = request.value
    const params = { ...methods[method].params.parse(request.value.params) }
    this.requests.push({ method, params, session: socket.data.number })
    const rule = this.#rules.get(method)?.shift()
    if (rule === undefined) this.#reply(socket, id, method, params)
    else this.#obey(rule, socket, id, method, params)
    this.#note()
  }

  #obey(
    rule: Rule,
    socket: ScriptedSocket,
    id: RequestId,
    method: MethodName,
    params: GivenParams,
  ): void {
    switch (rule.kind) {
      case "serve-then-cut":
        answerTo(this, socket, method, params)
        return socket.terminate()
      case "cut":
        return socket.terminate()
      case "serve":
        return this.#reply(socket, id, method, params)
      case "answer-after": {
        const answer = resultMessage(id, answerTo(this, socket, method, params))
        rule.event.then(() => socket.send(answer)).catch(reportError)
        return
      }
      case "hold":
        return
      case "refuse":
        socket.send(errorMessage(id, rule.failure))
    }
  }

  #reply(socket: ScriptedSocket, id: RequestId, method: MethodName, params: GivenParams): void {
    const answer = answerTo(this, socket, method, params)
    if ("reason" in answer) {
      socket.send(errorMessage(id, answer))
      return
    }
    socket.send(resultMessage(id, answer))
    if (method !== "execute" && method !== "attach") return
    for (const subscription of socket.data.subscriptions.values()) {
      const { execution } = subscription
      const notice = { execution_id: execution.id, ...execution.lifeSign() }
      const isStarted = method === "execute" && execution.state !== "queued"
      if (isStarted) socket.send(notificationMessage("process.started", notice))
      subscription.pump()
    }
  }

  #advance(execution: ScriptedExecution): void {
    for (const socket of this.sockets) socket.data.subscriptions.get(execution.id)?.pump()
  }
}

function newSession(number: number): SessionData {
  return {
    number,
    isOpen: true,
    subscriptions: new Map(),
    watching: null,
    drained: Promise.withResolvers<void>(),
    sentChunks: 0,
  }
}
