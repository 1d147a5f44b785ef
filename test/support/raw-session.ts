import { z } from "zod"
import { WireError } from "../../src/protocol/failure.ts"
import {
  type MethodName,
  methods,
  type ParamsOf,
  type ResultOf,
} from "../../src/protocol/methods.ts"
import {
  type NotificationName,
  type NotificationOf,
  notifications,
} from "../../src/protocol/notifications.ts"

export type RawSessionOptions = {
  headers?: Record<string, string>
  protocols?: string[]
  tls?: Bun.TLSOptions
}

type RequestId = number | string | null
type Said = { method: string; params: unknown; executionId: string | null }
type Close = { code: number; reason: string }

const Message = z.union([
  z.object({ id: z.union([z.number(), z.string(), z.null()]), error: WireError }),
  z.object({ method: z.string(), params: z.unknown() }),
  z.object({ id: z.union([z.number(), z.string()]), result: z.unknown() }),
])
type Answer = Exclude<z.infer<typeof Message>, { method: string }>

const patienceMs = 50_000

/** A session as a stranger's program would hold it: no client library, and anything may be sent. */
export class RawSession implements Disposable {
  readonly #socket: WebSocket
  readonly #opened = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<Close>()
  readonly #answers = new Map<RequestId, Answer>()
  readonly #said: Said[] = []
  readonly #frames: Uint8Array[] = []
  readonly #looks = new Set<() => void>()
  #isOpen = true
  #lastId = 0

  constructor(url: string, options: RawSessionOptions = {}) {
    this.#socket = new WebSocket(url, options)
    this.#socket.binaryType = "nodebuffer"
    this.#socket.addEventListener("open", () => this.#opened.resolve())
    this.#socket.addEventListener("message", ({ data }) => this.#hear(data))
    this.#socket.addEventListener("close", ({ code, reason }) => {
      this.#isOpen = false
      this.#opened.reject(new Error(`closed with ${code} ${reason}`))
      this.#closed.resolve({ code, reason })
      this.#lookAgain()
    })
    this.#opened.promise.catch(() => undefined)
  }

  /** Connects and takes the greeting. */
  static async open(url: string, options: RawSessionOptions = {}): Promise<RawSession> {
    const session = new RawSession(url, options)
    await session.opened
    await session.heard("connected")
    return session
  }

  get opened(): Promise<void> {
    return this.#opened.promise
  }

  get closed(): Promise<Close> {
    return this.#closed.promise
  }

  /** Every notification so far, in its order. */
  get said(): readonly Said[] {
    return this.#said
  }

  get frames(): readonly Uint8Array[] {
    return this.#frames
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(message)
  }

  /** Sends a request of any shape; answers the id under which the response will come. */
  request(method: string, params?: unknown): number {
    this.#lastId += 1
    this.send(JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params }))
    return this.#lastId
  }

  /** The response to an id: taken once, so that null can be asked for again. */
  async response(id: RequestId): Promise<Answer> {
    const answer = await this.#until(`a response to ${id}`, () => this.#answers.get(id))
    this.#answers.delete(id)
    return answer
  }

  /** Asks, and fails unless it is answered with a result of the method's shape. */
  async call<Name extends MethodName>(name: Name, params: ParamsOf<Name>): Promise<ResultOf<Name>> {
    const answer = await this.response(this.request(name, params))
    if ("error" in answer) throw new Error(`${name} refused: ${JSON.stringify(answer.error)}`)
    return resultSchemas[name].result.parse(answer.result)
  }

  /** Asks, and fails unless it is refused. */
  async refused(method: string, params?: unknown): Promise<WireError> {
    return this.refusalOf(this.request(method, params))
  }

  async refusalOf(id: RequestId): Promise<WireError> {
    const answer = await this.response(id)
    if ("error" in answer) return answer.error
    throw new Error(`not refused: ${JSON.stringify(answer.result)}`)
  }

  /** The first notification of a name, past or to come; about one execution if that is given. */
  async heard<Name extends NotificationName>(
    name: Name,
    executionId?: string,
  ): Promise<NotificationOf<Name>> {
    const what = executionId === undefined ? name : `${name} of ${executionId}`
    return this.#until(what, () => {
      const found = this.#said.find((said) => isNamed(said, name, executionId))
      return found === undefined ? undefined : notificationSchemas[name].parse(found.params)
    })
  }

  allHeard<Name extends NotificationName>(
    name: Name,
    executionId?: string,
  ): NotificationOf<Name>[] {
    return this.#said
      .filter((said) => isNamed(said, name, executionId))
      .map(({ params }) => notificationSchemas[name].parse(params))
  }

  /** Executes and waits for the end. */
  async run(params: ParamsOf<"execute">): Promise<FinishedRun> {
    const { execution_id: id } = await this.call("execute", params)
    const completed = await this.heard("process.completed", id)
    const output = this.allHeard("process.output", id)
    const text = (stream: "stdout" | "stderr") =>
      output.flatMap(({ type, data }) => (type === stream ? [data] : [])).join("")
    return { id, completed, stdout: text("stdout"), stderr: text("stderr") }
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #hear(data: unknown): void {
    if (typeof data === "string") this.#take(Message.parse(JSON.parse(data)))
    else if (data instanceof Uint8Array) this.#frames.push(data)
    this.#lookAgain()
  }

  #take(message: z.infer<typeof Message>): void {
    if ("method" in message) this.#said.push({ ...message, executionId: aboutWhom(message.params) })
    else this.#answers.set(message.id, message)
  }

  #lookAgain(): void {
    for (const look of this.#looks) look()
  }

  #until<Fact>(what: string, find: () => Fact | undefined): Promise<Fact> {
    return new Promise((resolve, reject) => {
      const settle = (run: () => void) => {
        clearTimeout(timer)
        this.#looks.delete(look)
        run()
      }
      const look = () => {
        const fact = find()
        if (fact !== undefined) settle(() => resolve(fact))
        else if (!this.#isOpen) settle(() => reject(new Error(`closed before ${what}`)))
      }
      const late = new Error(`not within ${patienceMs} ms: ${what}`)
      const timer = setTimeout(() => settle(() => reject(late)), patienceMs)
      this.#looks.add(look)
      look()
    })
  }
}

export type FinishedRun = {
  id: string
  completed: NotificationOf<"process.completed">
  stdout: string
  stderr: string
}

const resultSchemas: { [Name in MethodName]: { result: z.ZodType<ResultOf<Name>> } } = methods
const notificationSchemas: { [Name in NotificationName]: z.ZodType<NotificationOf<Name>> } =
  notifications

function isNamed(said: Said, name: string, executionId: string | undefined): boolean {
  return said.method === name && (executionId === undefined || said.executionId === executionId)
}

function aboutWhom(params: unknown): string | null {
  return z.object({ execution_id: z.string() }).safeParse(params).data?.execution_id ?? null
}
