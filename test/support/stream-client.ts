import { z } from "zod"
import { readBinaryFrame } from "../../src/protocol/binary-frame.ts"
import { WireError } from "../../src/protocol/failure.ts"
import {
  type MethodName,
  methods,
  type ParamsOf,
  type ResultOf,
} from "../../src/protocol/methods.ts"
import { type NotificationOf, notifications } from "../../src/protocol/notifications.ts"
import { ReceivedOutput } from "./received-output.ts"

/** The service's refusal of a request. */
class Refused extends Error {
  readonly error: WireError

  constructor(error: WireError) {
    super(error.message)
    this.error = error
  }

  get reason(): string {
    return this.error.data.reason
  }
}

const Response = z.object({
  id: z.number().nullable(),
  result: z.unknown().optional(),
  error: WireError.optional(),
})
const Notification = z.object({ method: z.string(), params: z.unknown() })
const Attached = z.object({ execution_id: z.string(), subscription: z.int() })

const results: { [Name in MethodName]: { result: { parse(json: unknown): ResultOf<Name> } } } =
  methods

type Waiting = { resolve(result: unknown): void; reject(error: unknown): void }

/**
 * The protocol spoken by hand, made for floods: output is checked and hashed as it comes, and the
 * client can stall, break off and come back wherever a test wants it to.
 */
export class StreamClient implements Disposable {
  readonly greeting: Promise<NotificationOf<"connected">>
  readonly closed: Promise<{ code: number }>
  readonly #socket: WebSocket
  readonly #greeting = Promise.withResolvers<NotificationOf<"connected">>()
  readonly #waiting = new Map<number, Waiting>()
  readonly #outputs: Map<string, ReceivedOutput>
  readonly #executions = new Map<number, string>()
  #lastId = 0
  #isCut = false

  /** To go on with what another client had, give it that client's outputs. */
  constructor(url: string, outputs = new Map<string, ReceivedOutput>()) {
    this.#outputs = outputs
    this.greeting = this.#greeting.promise
    this.#socket = new WebSocket(url)
    this.#socket.binaryType = "nodebuffer"
    const { promise, resolve } = Promise.withResolvers<{ code: number }>()
    this.closed = promise
    this.#socket.addEventListener("message", ({ data }) => this.#receive(data))
    this.#socket.addEventListener("close", ({ code }) => {
      const error = new Error(`the service closed the connection (${code})`)
      this.#greeting.reject(error)
      for (const waiting of this.#waiting.values()) waiting.reject(error)
      if (!this.#isCut) for (const output of this.#outputs.values()) output.fail(error)
      resolve({ code })
    })
    this.greeting.catch(() => undefined)
  }

  static async connect(url: string, outputs?: Map<string, ReceivedOutput>): Promise<StreamClient> {
    const client = new StreamClient(url, outputs)
    await client.greeting
    return client
  }

  call<Name extends MethodName>(method: Name, params: ParamsOf<Name>): Promise<ResultOf<Name>> {
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
    return promise.then((result) => results[method].result.parse(result))
  }

  /** The reason of a refusal that must come. */
  async refusal<Name extends MethodName>(method: Name, params: ParamsOf<Name>): Promise<string> {
    return this.call(method, params).then(
      (result) => {
        throw new Error(`${method} was not refused, but answered ${JSON.stringify(result)}`)
      },
      (error: unknown) => {
        if (error instanceof Refused) return error.reason
        throw error
      },
    )
  }

  /** Executes; answers the id and what comes of its output. */
  async execute(params: ParamsOf<"execute">): Promise<{ id: string; output: ReceivedOutput }> {
    const { execution_id: id } = await this.call("execute", params)
    return { id, output: this.output(id) }
  }

  /** Attaches where the output received so far ends, or where it is told to. */
  async attach(params: ParamsOf<"attach">): Promise<ReceivedOutput> {
    const { execution_id } = params
    const output = this.output(execution_id)
    output.attached()
    await this.call("attach", { from: output.next, ...params })
    return output
  }

  output(executionId: string): ReceivedOutput {
    const known = this.#outputs.get(executionId)
    if (known !== undefined) return known
    const output = new ReceivedOutput()
    this.#outputs.set(executionId, output)
    return output
  }

  /** Reads nothing more from the socket, so that the service feels it. */
  stall(): void {
    this.#socket.pause()
  }

  goOn(): void {
    this.#socket.resume()
  }

  /** Breaks off: whatever is still under way is never looked at. */
  cut(): void {
    this.#isCut = true
    this.#socket.terminate()
  }

  [Symbol.dispose](): void {
    this.cut()
  }

  #receive(data: unknown): void {
    if (this.#isCut) return
    if (data instanceof Uint8Array) this.#takeFrame(data)
    else this.#takeText(z.record(z.string(), z.unknown()).parse(JSON.parse(String(data))))
  }

  #takeFrame(data: Uint8Array): void {
    const frame = readBinaryFrame(data)
    if (frame === null) throw new Error("a binary frame that cannot be read")
    const id = this.#executions.get(frame.subscription)
    if (id === undefined) throw new Error(`a frame of no subscription: ${frame.subscription}`)
    this.output(id).take({ ...frame, told: null })
  }

  #takeText(message: Record<string, unknown>): void {
    if ("id" in message) this.#settle(Response.parse(message))
    else this.#takeNotification(Notification.parse(message))
  }

  #settle({ id, result, error }: z.infer<typeof Response>): void {
    const waiting = this.#waiting.get(id ?? 0)
    this.#waiting.delete(id ?? 0)
    if (error !== undefined) return waiting?.reject(new Refused(error))
    // Now, and not when the caller wakes up: frames may follow in the same breath.
    const attached = Attached.safeParse(result)
    if (attached.success) {
      this.#executions.set(attached.data.subscription, attached.data.execution_id)
    }
    waiting?.resolve(result)
  }

  #takeNotification({ method, params }: z.infer<typeof Notification>): void {
    switch (method) {
      case "connected":
        return this.#greeting.resolve(notifications.connected.parse(params))
      case "process.output":
        return this.#takeOutput(notifications["process.output"].parse(params))
      case "process.gap": {
        const gap = notifications["process.gap"].parse(params)
        return this.output(gap.execution_id).takeGap(gap)
      }
      case "process.completed": {
        const completed = notifications["process.completed"].parse(params)
        return this.output(completed.execution_id).complete(completed)
      }
      case "process.error": {
        const { execution_id, error } = notifications["process.error"].parse(params)
        return this.output(execution_id).fail(new Refused(error))
      }
      case "process.started":
      case "process.paused":
      case "process.resumed":
      case "process.canceled":
        return this.output(notifications[method].parse(params).execution_id).takeLife(method)
      default:
        throw new Error(`a notification that nobody expects: ${method}`)
    }
  }

  #takeOutput(output: NotificationOf<"process.output">): void {
    const { type: stream, data, encoding, sequence, truncated, lossy = 0, next } = output
    const isText = encoding === undefined
    const bytes = Buffer.from(data, isText ? "utf8" : "base64")
    const told = { sequence, truncated, lossy, isText }
    this.output(output.execution_id).take({ stream, bytes, next, told })
  }
}
