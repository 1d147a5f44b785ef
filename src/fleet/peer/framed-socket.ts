import { mostUnsentBytes } from "../../protocol/session-limits.ts"
import type { Connection } from "../../service/transports/socket/session.ts"

/** What a socket of Bun's can do, as far as it matters here. */
export interface RawSocket {
  /** Answers how much of it was taken; less than all: the rest after `drain`. */
  write(bytes: Uint8Array): number
  end(): void
  terminate(): void
}

export interface FrameListener {
  text(text: string): void
  bytes(bytes: Uint8Array): void
  /** Anything has come from the other side, a sign of life at least. */
  heard(): void
  /** All that was waiting has been sent. */
  sent(): void
  /** The other side has said why it goes, or has not kept to the rules; the socket is ended. */
  parted(why: string): void
}

/**
 * Messages over a stream between nodes, each with its length and kind before it:
 *
 *     length 4 · kind 1 · payload
 *
 * A socket of Bun's with TLS costs a third of a WebSocket behind a TLS front, in time as in memory,
 * and knows whose certificate it has seen.
 */
const headerBytes = 5
const kinds = { text: 0, bytes: 1, ping: 2, pong: 3, part: 4 } as const
type Kind = (typeof kinds)[keyof typeof kinds]

// One buffer for all: a write copies before it returns.
let scratch = new Uint8Array(128 * 1024)
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const nothing = new Uint8Array(0)

export class FramedSocket implements Connection {
  readonly #socket: RawSocket
  readonly #listener: FrameListener
  #mostBytes: number
  /** Written, and not taken by the socket yet. */
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  /** A message, or only its header, of which so many bytes have come. */
  #begun: { bytes: Uint8Array; filled: number } | null = null
  #isParting = false
  #isOver = false

  constructor(socket: RawSocket, listener: FrameListener, mostBytes: number) {
    this.#socket = socket
    this.#listener = listener
    this.#mostBytes = mostBytes
  }

  /** How large messages may be that come from now on. */
  accept(mostBytes: number): void {
    this.#mostBytes = mostBytes
  }

  send(message: string | Uint8Array): number {
    return typeof message === "string"
      ? this.#frame(kinds.text, encoder.encode(message))
      : this.#frame(kinds.bytes, message)
  }

  ping(): void {
    this.#frame(kinds.ping, nothing)
  }

  close(_code: number, reason: string): void {
    if (this.#isParting) return
    this.#frame(kinds.part, encoder.encode(reason))
    this.#isParting = true
    this.#endWhenSent()
  }

  terminate(): void {
    this.#isOver = true
    this.#unsent = []
    this.#socket.terminate()
  }

  /** The socket has bytes. They stay as they are: what is told of them is no copy. */
  received(chunk: Uint8Array): void {
    if (this.#isOver) return
    this.#listener.heard()
    let at = 0
    while (at < chunk.length && !this.#isOver) {
      if (this.#begun !== null) at += this.#fill(this.#begun, chunk.subarray(at))
      else at = this.#takeWhole(chunk, at)
    }
  }

  /** The socket has room again. */
  drained(): void {
    while (this.#unsent.length > 0) {
      const [first = nothing] = this.#unsent
      const taken = Math.max(0, this.#socket.write(first))
      this.#unsentBytes -= taken
      if (taken < first.length) {
        this.#unsent[0] = first.subarray(taken)
        return
      }
      this.#unsent.shift()
    }
    if (this.#isParting) this.#endWhenSent()
    else if (!this.#isOver) this.#listener.sent()
  }

  #endWhenSent(): void {
    if (this.#unsent.length === 0) this.#socket.end()
  }

  #frame(kind: Kind, payload: Uint8Array): number {
    if (this.#isOver || this.#isParting) return 0
    const length = headerBytes + payload.length
    if (length > scratch.length) scratch = new Uint8Array(length)
    new DataView(scratch.buffer).setUint32(0, payload.length)
    scratch[4] = kind
    scratch.set(payload, headerBytes)
    const isWaiting = this.#unsent.length > 0
    const taken = isWaiting ? 0 : Math.max(0, this.#socket.write(scratch.subarray(0, length)))
    if (taken === length) return length
    this.#unsent.push(scratch.slice(taken, length))
    this.#unsentBytes += length - taken
    if (this.#unsentBytes > mostUnsentBytes) this.#break("it does not take what it is sent")
    return -1
  }

  /** Takes the messages that are here whole, and begins the next; answers where it is. */
  #takeWhole(chunk: Uint8Array, from: number): number {
    let at = from
    while (chunk.length - at >= headerBytes) {
      const end = at + headerBytes + lengthAt(chunk, at)
      if (this.#isTooLong(end - at - headerBytes)) return chunk.length
      if (end > chunk.length) break
      this.#take(chunk[at + 4] ?? 0, chunk.subarray(at + headerBytes, end))
      if (this.#isOver) return chunk.length
      at = end
    }
    const isHeader = chunk.length - at < headerBytes
    const length = isHeader ? 0 : lengthAt(chunk, at)
    if (at < chunk.length) this.#begun = { bytes: new Uint8Array(headerBytes + length), filled: 0 }
    return at
  }

  /** Answers how much it took. */
  #fill(begun: { bytes: Uint8Array; filled: number }, chunk: Uint8Array): number {
    const piece = chunk.subarray(0, begun.bytes.length - begun.filled)
    begun.bytes.set(piece, begun.filled)
    begun.filled += piece.length
    if (begun.filled < begun.bytes.length) return piece.length
    const length = lengthAt(begun.bytes, 0)
    this.#begun = null
    if (begun.bytes.length === headerBytes + length) {
      this.#take(begun.bytes[4] ?? 0, begun.bytes.subarray(headerBytes))
    } else if (!this.#isTooLong(length)) {
      const bytes = new Uint8Array(headerBytes + length)
      bytes.set(begun.bytes)
      this.#begun = { bytes, filled: headerBytes }
    }
    return piece.length
  }

  #isTooLong(length: number): boolean {
    if (length <= this.#mostBytes) return false
    this.#break(`a message of ${length} bytes came: at most ${this.#mostBytes} are taken`)
    return true
  }

  #take(kind: number, payload: Uint8Array): void {
    switch (kind) {
      case kinds.text:
        return this.#listener.text(decoder.decode(payload))
      case kinds.bytes:
        return this.#listener.bytes(payload)
      case kinds.ping:
        this.#frame(kinds.pong, nothing)
        return
      case kinds.pong:
        return
      case kinds.part:
        return this.#break(decoder.decode(payload))
      default:
        return this.#break(`a message of kind ${kind} came, which is unknown here`)
    }
  }

  #break(why: string): void {
    if (this.#isOver) return
    this.terminate()
    this.#listener.parted(why)
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0)
}
