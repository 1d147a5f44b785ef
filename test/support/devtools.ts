import { z } from "zod"

const Message = z.union([
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ id: z.int(), error: z.object({ message: z.string() }) }),
  z.object({ method: z.string(), params: z.unknown(), sessionId: z.string().optional() }),
])

/** JSON of somebody else, of whose shape a wrong guess fails the test. */
export type Told = ReturnType<typeof JSON.parse>

type Heard = (method: string, params: Told) => void

/** Speaks the DevTools protocol with a browser, about as many pages as there are. */
export class Devtools implements AsyncDisposable {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, PromiseWithResolvers<Told>>()
  readonly #listeners = new Map<string, Heard>()
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)))
    socket.addEventListener("close", () => {
      for (const { reject } of this.#pending.values()) reject(new Error("the browser is gone"))
      this.#pending.clear()
    })
  }

  static async connect(url: string): Promise<Devtools> {
    const socket = new WebSocket(url)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.addEventListener("open", () => resolve())
    socket.addEventListener("error", () => reject(new Error(`no browser at ${url}`)))
    await promise
    return new Devtools(socket)
  }

  call(method: string, params: object = {}, sessionId?: string): Promise<Told> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<Told>()
    answer.promise.catch(() => undefined) // whoever waits for it hears of it
    this.#pending.set(id, answer)
    const about = sessionId === undefined ? {} : { sessionId }
    this.#socket.send(JSON.stringify({ id, method, params, ...about }))
    return answer.promise
  }

  listen(sessionId: string, heard: Heard): void {
    this.#listeners.set(sessionId, heard)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close()
  }

  #receive(text: string): void {
    const message = Message.parse(JSON.parse(text))
    if (!("id" in message)) {
      const { method, params, sessionId = "" } = message
      this.#listeners.get(sessionId)?.(method, params)
      return
    }
    const answer = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if ("error" in message) answer?.reject(new Error(message.error.message))
    else answer?.resolve(message.result)
  }
}
