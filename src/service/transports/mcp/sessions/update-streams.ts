import { z } from "zod"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { ResourceUpdates } from "../resources/resource-updates.ts"

const RequestId = z.union([z.string(), z.number()])
type RequestId = z.infer<typeof RequestId>

/** Of one connection. */
export const mostUpdateStreams = 32

/** What a connection listens to: found out before the SDK gets the request, which tells nothing. */
export class UpdateStreams {
  readonly #updates: ResourceUpdates
  readonly #refused: (uri: string, why: Failure) => void
  readonly #open = new Map<RequestId, Set<string>>()

  constructor(updates: ResourceUpdates, refused: (uri: string, why: Failure) => void) {
    this.#updates = updates
    this.#refused = refused
  }

  get size(): number {
    return this.#open.size
  }

  /** The request for what of it can be had; null when it was canceled meanwhile. */
  async accept(request: ListenRequest): Promise<Result<ListenRequest | null, Failure>> {
    const tooMuch = tooMuchIn(request)
    if (tooMuch !== null) return fail(tooMuch)
    if (this.#open.size >= mostUpdateStreams) return fail(tooMany)
    const wanted = new Set<string>()
    this.#open.set(request.id, wanted)
    for (const uri of new Set(urisOf(request))) {
      wanted.add(uri)
      const answer = await this.#updates.want(uri)
      if (!this.#open.has(request.id)) {
        this.#unwant(wanted)
        return ok(null)
      }
      if (answer.ok) continue
      wanted.delete(uri)
      this.#refused(uri, answer.failure)
    }
    return ok(listenOnlyTo(request, [...wanted]))
  }

  /** It was canceled, or refused after all; nothing happens for what never listened. */
  end(id: RequestId): void {
    const wanted = this.#open.get(id)
    if (wanted === undefined) return
    this.#open.delete(id)
    this.#unwant(wanted)
  }

  /** Unless another one has asked for the same. */
  #unwant(uris: ReadonlySet<string>): void {
    const others = [...this.#open.values()]
    for (const uri of uris) {
      if (!others.some((wanted) => wanted.has(uri))) this.#updates.unwant(uri)
    }
  }
}

const tooMany = failure(
  "AT_CAPACITY",
  `${mostUpdateStreams} subscriptions are open on this connection: cancel one first.`,
)

const ListenRequest = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: RequestId,
  method: z.literal("subscriptions/listen"),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})
export type ListenRequest = z.infer<typeof ListenRequest>

const Canceled = z.looseObject({
  method: z.literal("notifications/cancelled"),
  params: z.looseObject({ requestId: RequestId }),
})

/** A message that asks to be told of resources; null for any other message. */
export function readListen(message: unknown): ListenRequest | null {
  return ListenRequest.safeParse(message).data ?? null
}

export function urisOf({ params }: ListenRequest): string[] {
  return params.notifications.resourceSubscriptions
}

/** The same request, for some of the resources: the SDK acknowledges whatever it is given. */
export function listenOnlyTo(request: ListenRequest, uris: string[]): ListenRequest {
  const { params } = request
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { ...request, params: { ...params, notifications } }
}

const mostUris = 100

/** Null when it asks for no more than can be had. */
export function tooMuchIn(request: ListenRequest): Failure | null {
  const asked = urisOf(request).length
  if (asked <= mostUris) return null
  const message = `At most ${mostUris} resources can be listened to at once, not ${asked}.`
  return failure("INVALID_PARAMS", message)
}

/** The request that a message cancels; null for any other message. */
export function canceledBy(message: unknown): string | number | null {
  return Canceled.safeParse(message).data?.params.requestId ?? null
}
