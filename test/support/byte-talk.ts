import { connect } from "node:net"
import { connect as connectTls } from "node:tls"
import { until } from "./until.ts"

export type Door = { path: string } | { port: number; ca?: string }

/** A connection by any door on which a test writes the bytes of HTTP itself. */
export class ByteTalk implements Disposable {
  readonly #socket: ReturnType<typeof connect>
  #heard = ""
  #isClosed = false

  /** `connected` is told the own port. */
  constructor(door: Door, connected: (port: number) => void = () => undefined) {
    const host = "127.0.0.1"
    this.#socket =
      "ca" in door
        ? connectTls({ ...door, host })
        : connect("path" in door ? door : { ...door, host })
    this.#socket.on("connect", () => connected(this.#socket.localPort ?? 0))
    this.#socket.on("data", (bytes) => {
      this.#heard += bytes.toString("latin1")
    })
    this.#socket.on("error", () => undefined) // a reset is a way to close, too
    this.#socket.on("close", () => {
      this.#isClosed = true
    })
  }

  get heard(): string {
    return this.#heard
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  write(bytes: string): void {
    this.#socket.write(bytes)
  }

  /** These, and nothing after them. */
  end(bytes: string): void {
    this.#socket.end(bytes)
  }

  /** The statuses of all answers so far. */
  get statuses(): number[] {
    return [...this.#heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
  }

  /** Waits for the text in what is said. */
  async hears(text: string): Promise<void> {
    await until(`the answer with ${JSON.stringify(text)}`, () => this.#heard.includes(text))
  }

  async closes(): Promise<void> {
    await until("the end of the connection", () => this.#isClosed)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
