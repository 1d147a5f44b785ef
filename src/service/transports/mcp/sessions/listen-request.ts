import { z } from "zod"
import { type Failure, failure } from "../../../../protocol/failure.ts"

const RequestId = z.union([z.string(), z.number()])

const ListenRequest = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: RequestId,
  method: z.literal("subscriptions/listen"),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})
export type ListenRequest = z.infer<typeof ListenRequest>

const Cancelled = z.looseObject({
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
export function cancelledBy(message: unknown): string | number | null {
  return Cancelled.safeParse(message).data?.params.requestId ?? null
}
