import { closeSync, writeSync } from "node:fs"
import { STATUS_CODES } from "node:http"
import { errnoOf } from "../../../lib/errno.ts"
import type { WatchedConnection } from "./watched-connection.ts"

/**
 * One HTTP request on its connection. Bun closes a connection on which a second request arrives
 * before the first is answered, and the first one's answer is lost. So the second is held back in
 * the kernel. One that came in the same packet cannot be: Bun has read it, and closes in the same
 * turn of the event loop. Then the first is not carried out, and its client is told so over another
 * descriptor of the same connection. See ADR 31.
 */
export class RequestTurn implements Disposable {
  readonly #request: Request
  /** Null over the unix socket, whose connections cannot be told apart. */
  readonly #connection: WatchedConnection | null
  #copy: number | null
  #isAnswering = false

  constructor(request: Request, connection: WatchedConnection | null) {
    this.#request = request
    this.#connection = connection
    // Now, before Bun reads on.
    this.#copy = connection?.duplicate() ?? null
    if (request.body === null) connection?.holdNextRequest()
  }

  /** All of it is here. False when nobody will get its answer: then it is not to be begun. */
  async hasArrived(): Promise<boolean> {
    this.#isAnswering = true
    this.#connection?.holdNextRequest()
    await new Promise((resolve) => setImmediate(resolve)) // all that Bun has read is parsed then
    if (this.#request.signal.aborted) return false
    this[Symbol.dispose]()
    return true
  }

  /** Its answer is complete, and no stream that goes on. */
  hasAnswered(): void {
    this.#isAnswering = false
  }

  /** Bun gets the answer, and whoever asked: by the copy, where Bun has closed the connection. */
  async deliver(response: Response): Promise<Response> {
    if (this.#copy !== null && this.#request.signal.aborted) {
      writeLast(this.#copy, await textOf(response))
    }
    if (!this.#isAnswering) setImmediate(() => this.#connection?.letNextRequestIn())
    return response
  }

  [Symbol.dispose](): void {
    if (this.#copy !== null) closeSync(this.#copy)
    this.#copy = null
  }
}

async function textOf(response: Response): Promise<string> {
  const body = await response.clone().text()
  const { status } = response
  response.headers.set("Connection", "close")
  response.headers.set("Content-Length", String(Buffer.byteLength(body)))
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${headers.join("")}\r\n${body}`
}

/** A refusal is short enough for the socket's buffer, of which nothing is used yet. */
function writeLast(fd: number, text: string): void {
  try {
    writeSync(fd, text)
  } catch (error) {
    const isGone = ["EPIPE", "ECONNRESET", "EAGAIN"].includes(errnoOf(error) ?? "")
    if (!isGone) throw error
  }
}
