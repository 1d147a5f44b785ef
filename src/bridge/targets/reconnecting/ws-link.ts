import { watchSilence } from "../../../client/connection/silence.ts"
import { delay } from "../../../lib/delay.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import type { Link, LinkEnd, LinkFailure, Received } from "./link.ts"

export const mcpProtocol = "mcp"

export type SocketSettings = {
  openSocket: () => WebSocket
  messageBytes: number
  bufferedBytes: number
  /** Until the connection is open. */
  openMs?: number
}

const standardOpenMs = 10_000
const pingAfterMs = 30_000
const pongMs = 15_000
/** With more than this unsent, `send` waits. */
const fullBytes = 1024 * 1024
const pollMs = 5
const closeMs = 1_000

/** A WebSocket with one message in each text frame. */
export async function openSocketLink(
  settings: SocketSettings,
  received: Received,
): Promise<Result<Link, LinkFailure>> {
  const { openMs = standardOpenMs } = settings
  const socket = settings.openSocket()
  const opening = Promise.withResolvers<LinkFailure | null>()
  const ended = Promise.withResolvers<LinkEnd>()
  const closed = Promise.withResolvers<void>()
  const inbox = new SerialQueue()
  let unreadLength = 0
  let isOver = false
  let heardAtMs = performance.now()
  let trouble: LinkFailure | null = null

  const end = (why: string, isTransient: boolean) => {
    opening.resolve({ why, isTransient, hasAnswered: false })
    isOver = true
    // What arrived before the close is delivered before the close.
    void inbox.runAfterQueued(async () => ended.resolve({ why, isTransient }))
  }
  const cut = (why: string) => {
    ended.resolve({ why, isTransient: false }) // at once: the client may not be reading
    isOver = true
    socket.terminate()
  }
  const timer = setTimeout(() => cutOpening(), openMs)
  function cutOpening(): void {
    const why = `the connection was not opened within ${openMs} ms`
    opening.resolve({ why, isTransient: true, hasAnswered: false })
    socket.terminate()
  }

  socket.addEventListener("open", () => {
    const speaksMcp = socket.protocol === mcpProtocol
    const why = "it does not speak MCP over WebSocket (it did not accept the subprotocol mcp)"
    opening.resolve(speaksMcp ? null : { why, isTransient: false, hasAnswered: true })
    if (!speaksMcp) socket.close(1002)
  })
  socket.addEventListener("error", (event) => {
    trouble ??= failureIn(event)
  })
  socket.addEventListener("close", ({ code, reason }) => {
    closed.resolve()
    if (trouble !== null) opening.resolve(trouble)
    end(`the connection was closed (${code}${reason === "" ? "" : `: ${reason}`})`, true)
  })
  socket.addEventListener("pong", () => {
    heardAtMs = performance.now()
  })
  socket.addEventListener("message", ({ data }) => {
    heardAtMs = performance.now()
    if (isOver) return
    const text = typeof data === "string" ? data : Buffer.from(data).toString("utf8")
    if (text.length > settings.messageBytes) {
      return cut(`it sent a message of more than ${settings.messageBytes} bytes`)
    }
    // A socket cannot be paused. One message alone always finds room.
    if (unreadLength > 0 && unreadLength + text.length > settings.bufferedBytes) {
      return cut("it sends faster than the client reads, and more is not kept")
    }
    unreadLength += text.length
    void inbox.run(async () => {
      await received(text)
      unreadLength -= text.length
    })
  })

  const failed = await opening.promise
  clearTimeout(timer)
  if (failed !== null) return fail(failed)
  const silence = watchSilence({
    silenceMs: pingAfterMs,
    answerMs: pongMs,
    heardAtMs: () => heardAtMs,
    probe: () => socket.ping(),
    gone: () => {
      end(`it was silent and did not answer a ping within ${pongMs / 1000} s`, true)
      socket.terminate()
    },
  })
  void closed.promise.then(() => silence[Symbol.dispose]())
  return ok({
    get isOpen() {
      return socket.readyState === WebSocket.OPEN
    },
    async send(text) {
      if (socket.readyState !== WebSocket.OPEN) return
      socket.send(text)
      while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > fullBytes) {
        await Bun.sleep(pollMs)
      }
    },
    ended: ended.promise,
    async close() {
      socket.close(1000)
      // A vanished peer never answers the closing handshake; nobody should wait for it.
      await Promise.race([closed.promise, delay(closeMs)])
      socket.terminate()
    },
  })
}

const transientStatus = new Set([502, 503, 504])
/** ENOENT: a unix socket whose server is being started again. */
const transientErrno = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOENT",
])

/** Why there was no connection. Bun has the status of a refusal only in its message. */
function failureIn(event: Event): LinkFailure {
  const text = "message" in event && typeof event.message === "string" ? event.message : ""
  const status = Number(/101 status code: (\d{3})\s*$/.exec(text)?.[1] ?? Number.NaN)
  if (!Number.isNaN(status)) {
    return {
      why: `it answered ${status} instead of opening a WebSocket`,
      isTransient: transientStatus.has(status),
      hasAnswered: true,
    }
  }
  const errno = "error" in event ? errnoOf(event.error) : null
  const isTransient = errno === null || transientErrno.has(errno)
  return { why: errno ?? wordsOf(text), isTransient, hasAnswered: false }
}

/** Without the address, which may have a secret in it. */
function wordsOf(text: string): string {
  return /failed: (.*)$/.exec(text)?.[1] ?? "the connection failed"
}
