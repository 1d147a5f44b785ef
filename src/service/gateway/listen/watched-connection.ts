import type { TcpEnds } from "../../../lib/tcp-ends.ts"

/** A TCP connection that this process has accepted; its cookie is no other socket's. */
export type AcceptedSocket = TcpEnds & { fd: number; cookie: bigint }

/** What the kernel tells about the connections of this process, and does to them. */
export interface SocketSystem {
  openDescriptors(): number[]
  /** Null when a descriptor is not a connection that came in at one of these ports. */
  acceptedSocket(fd: number, ports: ReadonlySet<number>): AcceptedSocket | null
  socketCookie(fd: number): bigint
  /** Everything that has come in since the connection began. */
  receivedBytes(fd: number): number
  /** Bytes that have come in, and that this process has not read. */
  unreadBytes(fd: number): number
  /** Bytes that were sent, and that the other side has not acknowledged. */
  unacknowledgedBytes(fd: number): number
  /** Whether Bun has bytes for it that the kernel had no room for. */
  hasUnsentBytes(fd: number): boolean
  /** Whoever waits for input is woken by so many bytes, or by its end. */
  wakeAtBytes(fd: number, bytes: number): void
  shutDown(fd: number): void
  /** Another descriptor of the same connection, which stays when the first is closed. */
  duplicate(fd: number): number
}

/** A session over a WebSocket, as far as it matters here. */
export type WatchedSession = {
  principal: string
  close(reason: string): void
}

/** More than the head of any request; Bun refuses larger ones. */
const heldBytes = 64 * 1024
const littleBytes = 16 * 1024
const lookMs = 5
const mostFrameHeadBytes = 14

/** One connection; what it is doing is told by whoever serves it. */
export class WatchedConnection {
  readonly socket: AcceptedSocket
  readonly #system: SocketSystem
  /** Since when it waits, or since when the message that it sends is unfinished. */
  sinceMs = performance.now()
  #state: "waiting" | "answering" | "session" | "ending" = "waiting"
  #session: WatchedSession | null = null
  #unfinishedBytes = 0
  /** Received until it was last looked, and in whole messages since. */
  #seenBytes = 0
  #heardBytes = 0

  constructor(socket: AcceptedSocket, system: SocketSystem) {
    this.socket = socket
    this.#system = system
  }

  get isOpen(): boolean {
    return this.#system.socketCookie(this.socket.fd) === this.socket.cookie
  }

  /** No whole request has arrived since it was opened, or since the last answer. */
  get isWaiting(): boolean {
    return this.#state === "waiting"
  }

  /** It has sent something that Bun will read in its next turn. */
  get isAboutToBeRead(): boolean {
    return this.#system.unreadBytes(this.socket.fd) > 0
  }

  get session(): WatchedSession | null {
    return this.#state === "session" ? this.#session : null
  }

  becomeSession(session: WatchedSession): void {
    this.#session = session
    this.#state = "session"
    this.#seenBytes = this.#system.receivedBytes(this.socket.fd)
  }

  /** Since when it is sending a message, as far as was seen at the last look; null between two. */
  get unfinishedSinceMs(): number | null {
    return this.session !== null && this.#unfinishedBytes > 0 ? this.sinceMs : null
  }

  /** A whole message has arrived, or a control frame. */
  heardMessage(bytes: number): void {
    this.#heardBytes += bytes + mostFrameHeadBytes
  }

  /**
   * What came and was no part of a whole message: Bun tells nobody about the beginning of one. The
   * heads of further fragments count as well, which is little.
   */
  unfinishedBytes(): number {
    if (this.#state !== "session") return 0
    const received = this.#system.receivedBytes(this.socket.fd)
    const before = this.#unfinishedBytes
    this.#unfinishedBytes = Math.max(0, before + received - this.#seenBytes - this.#heardBytes)
    if (before === 0 || this.#heardBytes > 0) this.sinceMs = performance.now()
    this.#seenBytes = received
    this.#heardBytes = 0
    return this.#unfinishedBytes
  }

  /** What comes now stays in the kernel until the answer is on its way, except the end. */
  holdNextRequest(): void {
    if (!this.isOpen) return
    this.#state = "answering"
    this.#system.wakeAtBytes(this.socket.fd, heldBytes)
  }

  /**
   * Called right after Bun got the answer: the next request is let through when Bun has sent it.
   * Where little of it is on its way, all of it is: Bun keeps only what does not fit into the
   * kernel's buffer.
   */
  letNextRequestIn(): void {
    if (!this.isOpen) return
    if (this.#system.unacknowledgedBytes(this.socket.fd) < littleBytes) this.#awaitRequest()
    else this.#awaitRequestWhenSent()
  }

  #awaitRequestWhenSent(): void {
    if (!this.isOpen) return
    if (!this.#system.hasUnsentBytes(this.socket.fd)) this.#awaitRequest()
    else setTimeout(() => this.#awaitRequestWhenSent(), lookMs)
  }

  #awaitRequest(): void {
    if (this.#state !== "answering") return
    this.#state = "waiting"
    this.sinceMs = performance.now()
    this.#system.wakeAtBytes(this.socket.fd, 1)
  }

  duplicate(): number | null {
    try {
      return this.isOpen ? this.#system.duplicate(this.socket.fd) : null
    } catch {
      return null // for want of descriptors: it is only used to say why
    }
  }

  /** Bun sees the end of the connection, and closes it. */
  end(reason = "Too much data is being sent at once."): void {
    this.session?.close(reason)
    this.#state = "ending"
    if (this.isOpen) this.#system.shutDown(this.socket.fd)
  }
}
