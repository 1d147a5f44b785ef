import { connect, type Socket } from "node:net"

/** How bytes are sent, and what becomes of the connection afterwards. */
export type Manner = "at once" | "slowly" | "half-closed" | "dropped"

export type Address = { readonly host: string; readonly port: number } | { readonly path: string }

const keptCharacters = 64 * 1024

/** A connection that minds nothing: what it sends, and whether anybody answers. */
export class HostileConnection implements Disposable {
  readonly #socket: Socket
  readonly #closed = Promise.withResolvers<void>()
  readonly #answered = Promise.withResolvers<void>()
  #heard = ""

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on("data", (bytes) => {
      if (this.#heard.length < keptCharacters) this.#heard += bytes.toString("latin1")
      this.#answered.resolve()
    })
    socket.on("error", () => undefined) // a reset is a way to close, too
    socket.on("close", () => this.#closed.resolve())
  }

  /** Null when nobody takes the call. */
  static async open(address: Address): Promise<HostileConnection | null> {
    const socket = connect({ ...address, allowHalfOpen: true })
    const connection = new HostileConnection(socket)
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("close", () => resolve(false))
    })
    return isOpen ? connection : null
  }

  /** What was answered, one character for a byte, up to a bound. */
  get heard(): string {
    return this.#heard
  }

  async send(parts: readonly Uint8Array[], manner: Manner): Promise<void> {
    for (const part of parts) {
      if (manner !== "slowly") this.#socket.write(part)
      else await this.#dribble(part)
    }
    if (manner === "half-closed") this.#socket.end()
    if (manner === "dropped") this.#socket.resetAndDestroy()
  }

  /** Until something is answered or the connection is closed, but not for long. */
  async answered(limitMs: number): Promise<void> {
    await Promise.race([this.#answered.promise, this.#closed.promise, Bun.sleep(limitMs)])
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  async #dribble(part: Uint8Array): Promise<void> {
    const pieceBytes = Math.max(1, Math.ceil(part.length / 40))
    for (let at = 0; at < part.length; at += pieceBytes) {
      this.#socket.write(part.subarray(at, at + pieceBytes))
      await Bun.sleep(2) // that it is slow is the attack
    }
  }
}
