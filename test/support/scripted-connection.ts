import { z } from "zod"
import type { Connection } from "../../src/service/transports/socket/session.ts"

const Message = z.looseObject({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), data: z.looseObject({ reason: z.string() }) }).optional(),
})
export type Message = z.infer<typeof Message>

/** A WebSocket on which a test decides when there is room. */
export class ScriptedConnection implements Connection {
  readonly messages: Message[] = []
  readonly frames: Uint8Array[] = []
  readonly closes: { code: number; reason: string }[] = []
  pings = 0
  /** What the peer does when it is pinged. */
  onPing: () => void = () => undefined
  isTerminated = false
  /** Whether what is sent has to wait for a drain. */
  isFull = false

  send(message: string | Uint8Array<ArrayBuffer>): number {
    if (typeof message === "string") this.messages.push(Message.parse(JSON.parse(message)))
    else this.frames.push(message.slice())
    return this.isFull ? -1 : message.length
  }

  ping(): void {
    this.pings += 1
    this.onPing()
  }

  close(code: number, reason: string): void {
    this.closes.push({ code, reason })
  }

  terminate(): void {
    this.isTerminated = true
  }

  answerTo(id: number): Message | undefined {
    return this.messages.find((message) => message.id === id)
  }

  /** The names of the notifications and, for answers, the ids, in the order they were sent. */
  get order(): (string | number | null)[] {
    return this.messages.map(({ method, id }) => method ?? id ?? null)
  }
}
