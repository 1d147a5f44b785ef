import type { ServerWebSocket } from "bun"
import { binaryHeaderBytes, writeBinaryHeader } from "../../src/protocol/binary-frame.ts"
import type { Encoding } from "../../src/protocol/execute.ts"
import { notificationMessage } from "../../src/protocol/json-rpc.ts"
import type { ScriptedExecution, ScriptedRecord } from "./scripted-execution.ts"

export type ScriptedSocket = ServerWebSocket<SessionData>

export type SessionData = {
  number: number
  isOpen: boolean
  subscriptions: Map<string, ScriptedSubscription>
  watching: Record<string, string> | null
  drained: PromiseWithResolvers<void>
  sentChunks: number
}

/** One socket's way through one execution's records. */
export class ScriptedSubscription {
  readonly number: number
  readonly execution: ScriptedExecution
  readonly encoding: Encoding
  index: number
  #socket: ScriptedSocket
  #isActive = true
  #isDelivering = false

  constructor(
    socket: ScriptedSocket,
    number: number,
    execution: ScriptedExecution,
    index: number,
    encoding: Encoding,
  ) {
    this.#socket = socket
    this.number = number
    this.execution = execution
    this.index = index
    this.encoding = encoding
  }

  cancel(): void {
    this.#isActive = false
  }

  /** Sends what is there; to be called again whenever there is more. */
  pump(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    this.#deliver().catch((error: unknown) => reportError(error))
  }

  get #isWanted(): boolean {
    return this.#isActive && this.#socket.data.isOpen
  }

  async #deliver(): Promise<void> {
    const { records } = this.execution
    while (this.#isWanted) {
      const record = records[this.index]
      if (record === undefined) break
      this.index += 1
      this.#socket.data.sentChunks += 1
      const sent = this.#socket.send(this.#encode(record))
      if (sent === -1) await this.#drained()
      else if (this.index % 4 === 0) await new Promise<void>((go) => setImmediate(go))
    }
    this.#isDelivering = false
    const completed = this.execution.completed()
    if (!this.#isWanted || completed === null) return
    this.cancel()
    this.#socket.send(notificationMessage("process.completed", completed))
  }

  async #drained(): Promise<void> {
    this.#socket.data.drained = Promise.withResolvers<void>()
    await this.#socket.data.drained.promise
  }

  #encode(record: ScriptedRecord): string | Uint8Array {
    const execution_id = this.execution.id
    const next = `at-${this.index}`
    if (record.kind === "gap") {
      const { bytes, lines } = record
      const from = `at-${this.index - 1}`
      const gap = { execution_id, from, next, bytes, lines, reason: "budget" }
      return notificationMessage("process.gap", gap)
    }
    if (this.encoding === "binary") return this.#frame(record, next)
    const isExact = this.encoding === "base64"
    return notificationMessage("process.output", {
      execution_id,
      type: record.stream,
      data: isExact ? record.bytes.toBase64() : new TextDecoder().decode(record.bytes),
      ...(isExact ? { encoding: "base64" } : {}),
      sequence: record.sequence,
      next,
      time: "2026-01-01T00:00:00.000Z",
      truncated: false,
    })
  }

  #frame(record: Extract<ScriptedRecord, { kind: "output" }>, next: string): Uint8Array {
    const cursor = new TextEncoder().encode(next)
    const frame = new Uint8Array(binaryHeaderBytes + cursor.length + record.bytes.length)
    const { number: subscription } = this
    const { stream } = record
    writeBinaryHeader(frame, { stream, subscription, cursorBytes: cursor.length })
    frame.set(cursor, binaryHeaderBytes)
    frame.set(record.bytes, binaryHeaderBytes + cursor.length)
    return frame
  }
}
