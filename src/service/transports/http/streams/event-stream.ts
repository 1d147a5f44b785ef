import { type Pieces, pulledBody, type Streaming } from "./pulled-body.ts"

// Proxies cut connections that are silent for a minute or even half of one.
export const heartbeatMs = 15_000

/** Bun sends no header before the first byte of a body, so a stream begins by saying something. */
export const openingPiece = encoded("retry: 1000\n\n")
export const heartbeat = encoded(": still here\n\n")

export type ServerSentEvent = { event: string; id?: string; data: unknown }

export function eventPiece({ event, id, data }: ServerSentEvent): Uint8Array {
  const idLine = id === undefined ? "" : `id: ${id}\n`
  return encoded(`event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`)
}

export function eventResponse(
  pieces: Pieces,
  streaming: Streaming,
  headers: Record<string, string> = {},
): Response {
  return new Response(pulledBody(pieces, streaming), {
    headers: {
      ...headers,
      "Content-Type": "text/event-stream",
      "X-Accel-Buffering": "no", // nginx would hold events back until it has a buffer full
    },
  })
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
