import { type Client, type ClientOptions, connect } from "../../src/client/connect.ts"
import type { ExecutionEvent } from "../../src/client/output/execution-event.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"

/** A client that comes back at once. */
export function quickClient(url: string, options: Partial<ClientOptions> = {}): Client {
  const reconnect = { firstDelayMs: 1, maxDelayMs: 4, giveUpAfterMs: null }
  return connect({ url, reconnect, ...options })
}

export async function allEvents(execution: RemoteExecution): Promise<ExecutionEvent[]> {
  return Array.fromAsync(execution.output())
}

export function kindsOf(events: ExecutionEvent[]): string[] {
  return events.map((event) => event.kind)
}

export function bytesOf(events: ExecutionEvent[]): Uint8Array {
  return Buffer.concat(events.map((event) => (event.kind === "output" ? event.bytes : Buffer.of())))
}

export function textOf(events: ExecutionEvent[]): string {
  return new TextDecoder().decode(bytesOf(events))
}

/** Reads until the text taken so far contains something. */
export async function readUntil(execution: RemoteExecution, wanted: string): Promise<string> {
  const events: ExecutionEvent[] = []
  for await (const event of execution.output()) {
    events.push(event)
    if (textOf(events).includes(wanted)) return textOf(events)
  }
  throw new Error(`"${wanted}" did not come, but: ${textOf(events)}`)
}

export async function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => {
      throw new Error(`It did not reject, but gave ${JSON.stringify(value)}.`)
    },
    (error: unknown) => error,
  )
}
