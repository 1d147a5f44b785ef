import type { StreamName } from "../../execution/record.ts"
import type { BinaryFrame } from "../../protocol/binary-frame.ts"
import type { GapNotice } from "../../protocol/methods.ts"
import type { Completed, NotificationOf } from "../../protocol/notifications.ts"
import type { Screen } from "../../protocol/screen.ts"

export type OutputEvent = {
  kind: "output"
  stream: StreamName
  /** With utf8 these are encoded anew each time they are asked for. */
  readonly bytes: Uint8Array
  /** Null unless the encoding is utf8. */
  text: string | null
  /** The cursor to go on from after this event. */
  next: string
  /** Output bytes of both streams before these; binary frames do not carry it, nor what follows. */
  sequence?: number
  time?: string
  /** The text ends inside a line. */
  truncated?: boolean
  /** Characters of the text that stand for invalid UTF-8. */
  lossy?: number
}

/** Output that will not come: the server had to forget it before this client took it. */
export type GapEvent = { kind: "gap" } & GapNotice

/** With `screen`: what a terminal shows, in place of everything that came before. */
export type ScreenEvent = { kind: "screen"; screen: Screen; next: string }

/** From here on the terminal has another size. */
export type ResizedEvent = { kind: "resized"; cols: number; rows: number; next: string }

export type LifeEvent = {
  kind: "started" | "paused" | "resumed" | "canceled"
  pid: number | null
}

export type ExecutionEvent =
  | OutputEvent
  | GapEvent
  | ScreenEvent
  | ResizedEvent
  | LifeEvent
  | { kind: "completed"; completed: Completed }

const encoder = new TextEncoder()

/** Null when the data is not what its encoding says. */
export function eventFromOutput(output: NotificationOf<"process.output">): OutputEvent | null {
  const { type: stream, data, next, sequence, time, truncated, lossy } = output
  const facts = { next, sequence, time, truncated, ...(lossy === undefined ? {} : { lossy }) }
  if (output.encoding === "base64") {
    const bytes = bytesFromBase64(data)
    return bytes === null ? null : { kind: "output", stream, bytes, text: null, ...facts }
  }
  return {
    kind: "output",
    stream,
    // Most readers of text never look at the bytes.
    get bytes() {
      return encoder.encode(data)
    },
    text: data,
    ...facts,
  }
}

function bytesFromBase64(data: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(data)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

export function eventFromFrame(frame: BinaryFrame): OutputEvent {
  const { stream, bytes, next } = frame
  return { kind: "output", stream, bytes, text: null, next }
}

// What an event weighs besides its output, roughly: a flood of tiny chunks has to be bounded too.
const overheadBytes = 256

/** What an event takes of the queue's bound. Text counts its characters. */
export function weightOf(event: ExecutionEvent): number {
  if (event.kind === "screen") return overheadBytes + event.screen.data.length
  if (event.kind !== "output") return overheadBytes
  return overheadBytes + (event.text === null ? event.bytes.length : event.text.length)
}
