import { z } from "zod"
import { readBinaryFrame } from "../../src/protocol/binary-frame.ts"

const Message = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
})
type Message = z.infer<typeof Message>

/** A client that parses everything it gets, and no more: the same for every server measured. */
export class SocketClient implements Disposable {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (message: Message) => void>()
  readonly #listeners = new Set<(message: Message) => void>()
  /** Output as the encoding carries it; a binary frame's comes with the cursor after it. */
  onOutput: ((piece: string | Uint8Array, next: string | null) => void) | null = null
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.binaryType = "arraybuffer"
    socket.addEventListener("message", ({ data }) => this.#receive(data))
  }

  static async open(url: string, token?: string): Promise<SocketClient> {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const socket = new WebSocket(url, { headers })
    const client = new SocketClient(socket)
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("error", reject)
    })
    return client
  }

  async call(method: string, params: unknown): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const id = this.#lastId
    const answered = new Promise<Message>((resolve) => this.#answers.set(id, resolve))
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
    const { result, error } = await answered
    this.#answers.delete(id)
    if (result === undefined) throw new Error(`${method}: ${error?.message ?? "no result"}`)
    return result
  }

  /** Starts an execution; its id. */
  async execute(params: unknown): Promise<string> {
    return String((await this.call("execute", params))["execution_id"])
  }

  /** The end of this execution, or of the next. */
  completed(executionId?: string): Promise<Message> {
    return this.next(
      "process.completed",
      ({ params }) => executionId === undefined || params?.["execution_id"] === executionId,
    )
  }

  /** The next notification of this name that fits. */
  next(method: string, fits: (message: Message) => boolean = () => true): Promise<Message> {
    return new Promise((resolve) => {
      const listener = (message: Message) => {
        if (message.method !== method || !fits(message)) return
        this.#listeners.delete(listener)
        resolve(message)
      }
      this.#listeners.add(listener)
    })
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const bytes = new Uint8Array(data)
      const frame = readBinaryFrame(bytes) // null: the floor's, which has no header
      this.onOutput?.(frame?.bytes ?? bytes, frame?.next ?? null)
      return
    }
    const raw: unknown = JSON.parse(String(data))
    // Checking 64 KiB of output with a schema would measure the schema.
    if (isOutput(raw)) {
      this.onOutput?.(raw.params.data, null)
      return
    }
    const message = Message.parse(raw)
    if (message.id !== undefined) this.#answers.get(message.id)?.(message)
    for (const listener of this.#listeners) listener(message)
  }
}

function isOutput(raw: unknown): raw is { params: { data: string } } {
  return (
    typeof raw === "object" &&
    raw !== null &&
    "method" in raw &&
    raw.method === "process.output" &&
    "params" in raw
  )
}
