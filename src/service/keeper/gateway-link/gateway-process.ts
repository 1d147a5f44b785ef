import { errnoOf } from "../../../lib/errno.ts"
import { isShortage, shortageOf } from "../../../lib/exhaustion.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { failure } from "../../../protocol/failure.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import { GatewayMessage } from "../../../protocol/ipc.ts"
import type { Clock, Gateway, StartGateway } from "../ports.ts"
import type { RestartReason } from "../reports/keeper-metrics.ts"
import { type Answerers, answerRequest } from "./requests.ts"

export type CannotListen = { code: string; message: string }

const heartbeatMs = 2000
const mostUnansweredBeats = 5
/** Before its first word: on a slow and busy machine a program takes its time to begin. */
const mostBeatsToBegin = 30
const restartsAtOnce = 5
const restartWindowMs = 60_000
const longestBackOffMs = 30_000
const flushTimeoutMs = 500
const farewellMs = 2000
/** From a start that failed for want of descriptors or processes to the next one. */
const shortageMs = 200

export type GatewayProcessOptions = Answerers & {
  start: StartGateway
  settings: GatewaySettings
  clock: Clock
  log: Log
  onStarted: (pid: number | null) => void
}

/** Starts the gateway, answers it, and starts it again whenever it dies. */
export class GatewayProcess {
  readonly #options: GatewayProcessOptions
  readonly #firstAnswer = Promise.withResolvers<Result<number | null, CannotListen>>()
  #gateway: Gateway | null = null
  #heartbeat: Disposable | null = null
  #unansweredBeats = 0
  #hasSpoken = false
  #restarts: number[] = []
  /** Why it is about to end, where that is our doing. */
  #fault: RestartReason = "ended"
  #backOffMs = 0
  #isAdmitting: boolean
  #isEnding = false
  #isDraining = false
  #connections = 0

  /** `admitting`: whether clients are answered from the first moment on, or when `admit` says. */
  constructor(options: GatewayProcessOptions, admitting: "at once" | "when told" = "at once") {
    this.#options = options
    this.#isAdmitting = admitting === "at once"
  }

  /** Clients connected when it was last heard. */
  get connections(): number {
    return this.#connections
  }

  /** Whether it dies so often that it is not started again at once. */
  get isUnstable(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    const lately = this.#restarts.filter((atMs) => nowMs - atMs < restartWindowMs)
    return lately.length > restartsAtOnce
  }

  /** Resolves with the port once it listens for the first time, or with why it cannot. */
  open(): Promise<Result<number | null, CannotListen>> {
    this.#launch()
    return this.#firstAnswer.promise
  }

  /** Whoever has connected until now, and waits, is answered. */
  admit(): void {
    this.#isAdmitting = true
    this.#gateway?.send({ kind: "admit" })
  }

  /** Tells it, and so its health page, that nothing new is started any more. */
  drain(): void {
    this.#isDraining = true
    this.#ping()
  }

  async close(): Promise<void> {
    this.#isEnding = true
    this.#heartbeat?.[Symbol.dispose]()
    const gateway = this.#gateway
    if (gateway === null) return
    // What ended last is told before there is nobody left to tell it.
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    using _timeout = this.#options.clock.after(flushTimeoutMs, resolve)
    await Promise.race([this.#options.updates.flushed(), isLate])
    gateway.kill("SIGTERM")
    using _deadline = this.#options.clock.after(farewellMs, () => gateway.kill("SIGKILL"))
    await gateway.exited
  }

  #launch(): void {
    const gateway = this.#start()
    if (gateway === null) return
    this.#gateway = gateway
    this.#unansweredBeats = 0
    this.#hasSpoken = false
    this.#options.onStarted(gateway.pid)
    this.#options.updates.connect((updates) => gateway.send(updates))
    const { settings } = this.#options
    gateway.send({ kind: "configure", settings, admits: this.#isAdmitting })
    this.#beat()
    void gateway.exited.then((how) => this.#ended(gateway, how))
  }

  /** Null when it could not be started for want of something: then it is tried again. */
  #start(): Gateway | null {
    try {
      const gateway = this.#options.start((message) => this.#receive(gateway, message))
      return gateway
    } catch (error) {
      if (!isShortage(error)) throw error
      const message = `The gateway could not be started: ${shortageOf(errnoOf(error))}.`
      this.#firstAnswer.resolve(fail({ code: errnoOf(error) ?? "EGATEWAY", message }))
      const delayMs = this.#nextDelayMs()
      this.#options.log.error({ err: error, delayMs }, "gateway could not be started")
      this.#launchLater(Math.max(delayMs, shortageMs))
      return null
    }
  }

  #receive(from: Gateway, raw: unknown): void {
    if (from !== this.#gateway) return
    this.#unansweredBeats = 0
    this.#hasSpoken = true
    const read = GatewayMessage.safeParse(raw)
    if (!read.success) {
      // A gateway that talks nonsense is broken; the keeper must not be.
      this.#options.log.error({ err: read.error }, "gateway sent an invalid message; killing it")
      this.#fault = "not-understood"
      from.kill("SIGKILL")
      return
    }
    const message = read.data
    switch (message.kind) {
      case "listening":
        // A port that was chosen for us stays the same when the gateway comes back.
        if (message.port !== null) this.#options.settings.listen.port = message.port
        this.#options.log.info({ gatewayPid: from.pid, port: message.port }, "gateway listening")
        this.#firstAnswer.resolve(ok(message.port))
        return
      case "cannot-listen":
        this.#options.log.error(
          { code: message.code, reason: message.message },
          "gateway cannot listen",
        )
        this.#firstAnswer.resolve(fail(message))
        return
      case "request":
        this.#answer(from, message.id, message.method, message.params)
        return
      case "updates-received":
        this.#options.updates.acknowledged()
        return
      case "pong":
        this.#connections = message.connections
        return
    }
  }

  #answer(gateway: Gateway, id: number, method: string, params: unknown): void {
    const send = (outcome: Awaited<ReturnType<typeof answerRequest>>) =>
      gateway.send(
        outcome.ok
          ? { kind: "answer", id, result: outcome.value }
          : { kind: "refusal", id, failure: outcome.failure },
      )
    const broke = (error: unknown) => {
      this.#options.log.error({ err: error, method }, "request failed in the keeper")
      const shortage = shortageOf(errnoOf(error))
      if (shortage !== null) {
        const told = `It could not be done: ${shortage}, or try again later.`
        send(fail(failure("AT_CAPACITY", told, { errno: errnoOf(error), retry_after: 1 })))
        return
      }
      const message = `The keeper failed while handling ${method}. See the log of the service.`
      send(fail(failure("INTERNAL", message)))
    }
    try {
      const outcome = answerRequest(method, params, this.#options)
      if (outcome instanceof Promise) outcome.then(send, broke)
      else send(outcome)
    } catch (error) {
      broke(error)
    }
  }

  #beat(): void {
    this.#heartbeat?.[Symbol.dispose]()
    this.#heartbeat = this.#options.clock.after(heartbeatMs, () => {
      // Beats are counted, not time: after a pause of this very process, time says nothing of it.
      const most = this.#hasSpoken ? mostUnansweredBeats : mostBeatsToBegin
      if (this.#unansweredBeats >= most) {
        const silentMs = this.#unansweredBeats * heartbeatMs
        this.#options.log.error({ silentMs }, "gateway hangs; killing it")
        this.#fault = "hung"
        this.#gateway?.kill("SIGKILL")
        return
      }
      this.#unansweredBeats += 1
      this.#ping()
      this.#beat()
    })
  }

  #ping(): void {
    this.#gateway?.send({ kind: "ping", draining: this.#isDraining })
  }

  #ended(gateway: Gateway, how: string): void {
    if (gateway !== this.#gateway) return
    this.#gateway = null
    this.#connections = 0
    this.#heartbeat?.[Symbol.dispose]()
    this.#options.updates.disconnect()
    this.#options.keeper.forgetDrivers()
    this.#options.onStarted(null)
    const message = `The gateway ended (${how}) before it could listen.`
    this.#firstAnswer.resolve(fail({ code: "EGATEWAY", message }))
    if (this.#isEnding) return

    this.#options.metrics.gatewayRestarted(this.#fault)
    this.#fault = "ended"
    const delayMs = this.#nextDelayMs()
    this.#options.log.warn(
      { gatewayPid: gateway.pid, how, delayMs },
      "gateway ended; restarting it",
    )
    this.#launchLater(delayMs)
  }

  #launchLater(delayMs: number): void {
    if (!this.#isEnding) this.#heartbeat = this.#options.clock.after(delayMs, () => this.#launch())
  }

  /** The first five in a minute at once, then ever slower: a crash loop must not eat the CPU. */
  #nextDelayMs(): number {
    const nowMs = this.#options.clock.monotonicMs()
    this.#restarts = this.#restarts.filter((atMs) => nowMs - atMs < restartWindowMs)
    this.#restarts.push(nowMs)
    if (this.#restarts.length <= restartsAtOnce) {
      this.#backOffMs = 0
      return 0
    }
    this.#backOffMs = Math.min(longestBackOffMs, Math.max(500, this.#backOffMs * 2))
    return this.#backOffMs
  }
}
