import type { ControlResult } from "../protocol/methods.ts"
import type { Completed } from "../protocol/notifications.ts"
import type { Calls } from "./calls/calls.ts"
import { StandardInput } from "./calls/standard-input.ts"
import type { Delivery } from "./output/delivery.ts"
import type { ScreenOptions } from "./output/delivery-options.ts"
import type { ExecutionEvent } from "./output/execution-event.ts"

export type Canceled = Extract<ControlResult, { status: "canceled" }>
export type Signaled = Extract<ControlResult, { status: "signaled" }>

/** An execution on the server, followed across reconnects. */
export interface RemoteExecution extends AsyncDisposable {
  readonly id: string
  /** Null until it is started, and when it never was. */
  readonly pid: number | null
  /**
   * Everything in order, `completed` last; one consumer at a time. What is not taken waits here up
   * to a bound and beyond it on the server; with the budget policy `block` the child waits for who
   * drives it to take it. Fails when the output is no longer to be had.
   */
  output(): AsyncIterable<ExecutionEvent>
  /** The end, whether or not anybody reads the output. */
  readonly ended: Promise<Completed>
  /** After what was last taken from `output()`: where an `attach` would go on. */
  cursor(): string
  pause(): Promise<void>
  resume(): Promise<void>
  /** Comes back when the whole process tree is gone, with what was stopped and what survived. */
  cancel(): Promise<Canceled>
  signal(signal: string | number): Promise<Signaled>
  /** Comes back when the child's input took it all. */
  write(data: string | Uint8Array): Promise<void>
  end(): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  /** From now on `output()` tells how large the terminal is. */
  tellSizes(): void
  /** From now on `output()` begins with a `screen`, at once and after every cut. */
  showScreen(options: ScreenOptions): void
  /** The execution goes on; what came so far can still be taken. Disposing does the same. */
  detach(): Promise<void>
}

export function remoteExecution(delivery: Delivery, calls: Calls): RemoteExecution {
  const { inbox, executionId: execution_id } = delivery
  const input = new StandardInput(execution_id, calls)
  return {
    id: execution_id,
    get pid() {
      return inbox.pid
    },
    output: () => inbox.queue.consume(),
    ended: inbox.ended,
    cursor: () => inbox.taken,
    pause: async () => {
      await calls.result("control", { type: "PAUSE", execution_id })
    },
    resume: async () => {
      await calls.result("control", { type: "RESUME", execution_id })
    },
    cancel: async () => {
      const result = await calls.result("control", { type: "CANCEL", execution_id })
      if (result.status !== "canceled") throw unexpected("CANCEL", result)
      return result
    },
    signal: async (signal) => {
      const result = await calls.result("control", { type: "SIGNAL", execution_id, signal })
      if (result.status !== "signaled") throw unexpected("SIGNAL", result)
      return result
    },
    write: (data) => input.write(data),
    end: () => input.end(),
    resize: async (cols, rows) => {
      await calls.result("resize", { execution_id, cols, rows })
    },
    tellSizes: () => delivery.tellSizes(),
    showScreen: (options) => delivery.showScreen(options),
    detach: () => delivery.detach(),
    [Symbol.asyncDispose]: () => delivery.detach(),
  }
}

function unexpected(asked: string, result: ControlResult): Error {
  return new Error(`The server answered ${asked} with "${result.status}".`)
}
