import type { ReportGarbage } from "../ports.ts"

/** What a body needs beside its pieces; it takes the place over, and gives it back at its end. */
export type Streaming = { reportGarbage: ReportGarbage; streamSlot: DisposableStack }

/** What a response consists of, one piece at a time; null is the end. Disposed, it says null. */
export interface Pieces extends Disposable {
  /** Not called again before it has answered. A rejection aborts the connection. */
  next(): Promise<Uint8Array | null>
}

/** Asks for a piece when the socket has taken the one before; disposes of all at its end. */
export function pulledBody(
  pieces: Pieces,
  { reportGarbage, streamSlot }: Streaming,
): ReadableStream<Uint8Array> {
  const taken = streamSlot.move()
  const end = () => {
    pieces[Symbol.dispose]()
    taken.dispose()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await pieces.next()
          if (piece !== null) {
            reportGarbage(piece.length)
            return controller.enqueue(piece)
          }
          end()
          controller.close()
        } catch (error) {
          end()
          controller.error(error)
        }
      },
      // Bun cancels the body when the client goes away, also while a pull is under way.
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

// Proxies cut connections that are silent for a minute or even half of one.
export const heartbeatMs = 15_000

/** Bun sends no header before the first byte of a body, so a stream begins by saying something. */
export const openingPiece = encoded("retry: 1000\n\n")
export const heartbeat = encoded(": still here\n\n")

type ServerSentEvent = { event: string; id?: string; data: unknown }

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

export function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
