import { deflateRawSync, inflateRawSync } from "node:zlib"
import { z } from "zod"
import { parseJson } from "../../../../lib/parse-json.ts"
import {
  callerDefaultsMeta,
  idempotencyKeyMeta,
  waitedMeta,
} from "../../../../protocol/mcp-meta-keys.ts"

/**
 * A stream of events that breaks off is asked for again with the id of the last event. Here that id
 * is the request itself: whichever gateway gets it can go on with it, and none has to remember it.
 */

/** These may be asked for again: what they wait for is known by its id, or by its key. */
const resumable: ReadonlySet<string> = new Set(["run", "wait"])

/** It travels in a header: a longer one would not be let through everywhere. */
const mostCharacters = 4096
const mostBytes = 64 * 1024

const Resumable = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]),
  method: z.literal("tools/call"),
  params: z.looseObject({
    name: z.string().refine((name) => resumable.has(name)),
    arguments: z.looseObject({}).optional(),
    _meta: z
      .looseObject({
        [idempotencyKeyMeta]: z.string().optional(),
        [waitedMeta]: z.number().optional(),
      })
      .default({}),
  }),
})
export type ResumableRequest = z.infer<typeof Resumable>

/** A request as it can be repeated: what it starts has a key. Null for one that cannot be. */
export function resumableRequest(body: unknown): ResumableRequest | null {
  const read = Resumable.safeParse(body)
  if (!read.success) return null
  const { params } = read.data
  const key = params._meta[idempotencyKeyMeta] ?? crypto.randomUUID()
  return {
    ...read.data,
    params: { ...params, _meta: { ...params._meta, [idempotencyKeyMeta]: key } },
  }
}

/** Null where it would be too long, or say too much. */
export function eventIdOf(request: ResumableRequest): string | null {
  if (hasVariables(request)) return null
  const askedAtMs = Date.now() - (request.params._meta[waitedMeta] ?? 0)
  const text = JSON.stringify({ askedAtMs, request })
  if (text.length > mostBytes) return null
  const id = deflateRawSync(text).toString("base64url")
  return id.length <= mostCharacters ? id : null
}

/** Variables may be secrets, and headers are what proxies log. */
function hasVariables({ params }: ResumableRequest): boolean {
  return params.arguments?.["env"] !== undefined || callerDefaultsMeta in params._meta
}

/**
 * The request that an event's id stands for; null for what never was such an id. Without a key it
 * would start something else each time.
 */
export function requestOf(eventId: string): ResumableRequest | null {
  if (eventId.length > mostCharacters) return null
  const json = parseJson(inflated(eventId))
  const read = json.ok ? Asked.safeParse(json.value).data : undefined
  if (read === undefined || hasVariables(read.request)) return null
  const { askedAtMs, request } = read
  const { params } = request
  if (params._meta[idempotencyKeyMeta] === undefined) return null
  const waitedMs = Math.max(0, Date.now() - askedAtMs)
  return { ...request, params: { ...params, _meta: { ...params._meta, [waitedMeta]: waitedMs } } }
}

/** The machine's clock is good enough: the next gateway is on the same one. */
const Asked = z.object({ askedAtMs: z.number(), request: Resumable })

function inflated(eventId: string): string {
  try {
    const options = { maxOutputLength: mostBytes }
    return inflateRawSync(Buffer.from(eventId, "base64url"), options).toString("utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error) return "" // zlib's errors have one
    throw error
  }
}

/**
 * The same events, each with the id by which it can be gone on from. One that says nothing else may
 * come first: then there is no moment from which it cannot be.
 */
export function withEventIds(
  events: ReadableStream<Uint8Array>,
  eventId: string,
  beginsEmpty: boolean,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let unfinished = ""
  return events.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start(controller) {
        if (beginsEmpty) controller.enqueue(encoder.encode(`id: ${eventId}\ndata: \n\n`))
      },
      transform(bytes, controller) {
        const frames = (unfinished + decoder.decode(bytes, { stream: true })).split("\n\n")
        unfinished = frames.pop() ?? ""
        const numbered = frames.map(
          (frame) => `${isEvent(frame) ? `id: ${eventId}\n` : ""}${frame}\n\n`,
        )
        if (numbered.length > 0) controller.enqueue(encoder.encode(numbered.join("")))
      },
      flush(controller) {
        if (unfinished !== "") controller.enqueue(encoder.encode(unfinished))
      },
    }),
  )
}

function isEvent(frame: string): boolean {
  return /^(?:event|data):/.test(frame)
}
