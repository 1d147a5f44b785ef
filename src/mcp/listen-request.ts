import { z } from "zod"

const RequestId = z.union([z.string(), z.number()])

const ListenRequest = z.looseObject({
  id: RequestId,
  method: z.literal("subscriptions/listen"),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})

const Cancelled = z.looseObject({
  method: z.literal("notifications/cancelled"),
  params: z.looseObject({ requestId: RequestId }),
})

/** The resources that a message asks to be told of; null for any other message. */
export function listenedTo(message: unknown): { id: string | number; uris: string[] } | null {
  const read = ListenRequest.safeParse(message)
  if (!read.success) return null
  const { id, params } = read.data
  return { id, uris: params.notifications.resourceSubscriptions }
}

/** The request that a message cancels; null for any other message. */
export function cancelledBy(message: unknown): string | number | null {
  return Cancelled.safeParse(message).data?.params.requestId ?? null
}
