import { delay } from "../../lib/delay.ts"
import {
  cancellation,
  envelopeVersion,
  type Message,
  type NotificationMessage,
  type RequestMessage,
} from "../messages/message.ts"
import { noMemory, type OpenWay, type Way } from "../ports.ts"
import { modernStatus, PostAnswer } from "./post-answer.ts"
import { refuse } from "./refuse.ts"

export type ModernSettings = {
  openWay: OpenWay
  /** Connections to the target at once, for all requests together. */
  connections: number
  /** How long one is kept that nobody uses. */
  idleMs: number
  most: number
}

/**
 * One connection to the target, for one request at a time, and for one revision: many servers look
 * at the revision of a connection's first request, and not again.
 */
type Lane = {
  way: Way
  version: string | null
  deliver: ((message: Message) => Promise<void>) | null
  idleSinceMs: number
}

const waitMs = 30_000
const mostWaiting = 1_000
const sweepMs = 5_000

/**
 * Requests of the modern era over HTTP stand for themselves. Each has a connection to the target
 * for itself while it lasts: so ids of different clients cannot meet, and whatever the target says
 * on it belongs to this request. Idle connections are used again.
 */
export class ModernRequests {
  readonly #settings: ModernSettings
  readonly #lanes = new Set<Lane>()
  readonly #waiting: (() => void)[] = []
  readonly #sweep: ReturnType<typeof setInterval>

  constructor(settings: ModernSettings) {
    this.#settings = settings
    this.#sweep = setInterval(() => this.#closeIdle(), sweepMs)
  }

  async answer(message: RequestMessage, request: Request, mayStream: boolean): Promise<Response> {
    const lane = await this.#lane(envelopeVersion(message))
    if (lane === null) {
      const why = `${this.#settings.connections} requests are under way, and more must wait.`
      return refuse(503, -32000, `${why} Send it again later.`, message.id)
    }
    if (request.signal.aborted) {
      this.#free(lane)
      return new Response(null, { status: 499 })
    }
    const { most } = this.#settings
    const answer = new PostAnswer({
      expected: 1,
      mayStream,
      waitsForAnswer: false,
      statusOf: modernStatus,
      headers: () => ({}),
      signal: request.signal,
      most,
      onGone: () => void this.#cancel(lane, message),
    })
    lane.deliver = async (came) => {
      const isTheAnswer = came.kind === "answer"
      await answer.deliver(came)
      if (isTheAnswer) this.#free(lane)
    }
    await lane.way.take(message)
    return answer.response
  }

  /** A notification has no answer, and needs a connection only for a moment. */
  async pass(message: NotificationMessage, version: string | null): Promise<void> {
    const lane = await this.#lane(version)
    if (lane === null) return
    await lane.way.take(message)
    this.#free(lane)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep)
    await Promise.all([...this.#lanes].map(({ way }) => way.close("ended")))
  }

  /** What the target still says about it must not reach the next request: the lane is closed. */
  async #cancel(lane: Lane, { id }: RequestMessage): Promise<void> {
    lane.deliver = () => Promise.resolve()
    await lane.way.take(cancellation(id, "the client closed the stream of the request"))
    await this.#remove(lane)
  }

  /** Null when there was none to be had in time. */
  async #lane(version: string | null): Promise<Lane | null> {
    const deadlineMs = performance.now() + waitMs
    for (;;) {
      const idle = this.#lanes
        .values()
        .filter((lane) => lane.deliver === null)
        .toArray()
      const fitting = idle.find((lane) => lane.version === version)
      if (fitting !== undefined) return taken(fitting)
      const isFull = this.#lanes.size >= this.#settings.connections
      const [other] = idle
      if (isFull && other !== undefined) void this.#remove(other)
      if (!isFull || other !== undefined) return taken(this.#open(version))
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0 || this.#waiting.length >= mostWaiting) return null
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      await Promise.race([promise, delay(leftMs)])
    }
  }

  #open(version: string | null): Lane {
    const client = {
      deliver: async (message: Message) => {
        await lane.deliver?.(message)
      },
    }
    const way = this.#settings.openWay(client, noMemory)
    const lane: Lane = { way, version, deliver: null, idleSinceMs: performance.now() }
    this.#lanes.add(lane)
    return lane
  }

  #free(lane: Lane): void {
    lane.deliver = null
    lane.idleSinceMs = performance.now()
    this.#waiting.shift()?.()
  }

  async #remove(lane: Lane): Promise<void> {
    this.#lanes.delete(lane)
    this.#waiting.shift()?.()
    await lane.way.close("ended")
  }

  #closeIdle(): void {
    const beforeMs = performance.now() - this.#settings.idleMs
    for (const lane of this.#lanes) {
      const isIdle = lane.deliver === null && lane.idleSinceMs < beforeMs
      if (isIdle) void this.#remove(lane)
    }
  }
}

/** Nobody else gets it, from this moment on. */
function taken(lane: Lane): Lane {
  lane.deliver = () => Promise.resolve()
  return lane
}
