import type { Passed } from "./ports.ts"

/** What a response consists of, one piece at a time; null is the end. Disposed, it says null. */
export interface Pieces extends Disposable {
  /** Not called again before it has answered. A rejection aborts the connection. */
  next(): Promise<Uint8Array | null>
}

/**
 * A body that asks for a piece when the socket has taken the one before: what waits, waits on disk.
 * Whatever ends it, the pieces are disposed.
 */
export function pulledBody(pieces: Pieces, passed: Passed): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await pieces.next()
          if (piece !== null) {
            passed(piece.length)
            return controller.enqueue(piece)
          }
          pieces[Symbol.dispose]()
          controller.close()
        } catch (error) {
          pieces[Symbol.dispose]()
          controller.error(error)
        }
      },
      // Bun cancels the body when the client goes away, also while a pull is under way.
      cancel: () => pieces[Symbol.dispose](),
    },
    { highWaterMark: 0 },
  )
}
