import { readFileSync } from "node:fs"
import { connect, type TLSSocket } from "node:tls"
import type { IssuedCertificate } from "./certificates.ts"
import { until } from "./until.ts"

/** Speaks to a node as another node would, or as nobody should: frames made by hand. */
export class NodeTalk implements Disposable {
  /** What it was sent, whole messages as text. */
  readonly said: string[] = []
  isClosed = false
  readonly #socket: TLSSocket
  #received = Buffer.alloc(0)

  constructor(port: number, tls: { ca: string; certificate?: IssuedCertificate }) {
    const { ca, certificate } = tls
    const own =
      certificate === undefined
        ? {}
        : { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      ca: readFileSync(ca),
      ...own,
      checkServerIdentity: () => undefined,
    })
    this.#socket.on("error", () => undefined)
    this.#socket.on("close", () => void (this.isClosed = true))
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes))
  }

  say(message: unknown): void {
    this.write(0, Buffer.from(typeof message === "string" ? message : JSON.stringify(message)))
  }

  write(kind: number, payload: Buffer, length = payload.length): void {
    const header = Buffer.alloc(5)
    header.writeUInt32BE(length)
    header[4] = kind
    this.#socket.write(Buffer.concat([header, payload]))
  }

  raw(bytes: string): void {
    this.#socket.write(bytes)
  }

  /** The first message that contains this. */
  heard(part: string): Promise<string> {
    return until(`to hear ${part}`, () => this.said.find((text) => text.includes(part)), 10_000)
  }

  async closed(): Promise<void> {
    await until("the end of the connection", () => this.isClosed, 10_000)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= 5) {
      const end = 5 + this.#received.readUInt32BE(0)
      if (this.#received.length < end) return
      this.said.push(this.#received.subarray(5, end).toString("utf8"))
      this.#received = this.#received.subarray(end)
    }
  }
}
