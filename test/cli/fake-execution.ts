import type { ExecutionEvent } from "../../src/client/output/execution-event.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import type { Completed } from "../../src/protocol/notifications.ts"

const sampleId = "7kq2mfa4abcdefghijklmnopqr"

export function completed(ending: Partial<Completed> = {}): Completed {
  return {
    execution_id: sampleId,
    status: "completed",
    outcome: "exited",
    exit_code: 0,
    signal: null,
    cause: null,
    reason: null,
    execution_time: 1,
    bytes: { stdout: 0, stderr: 0 },
    lines: { stdout: 0, stderr: 0 },
    dropped: { bytes: 0, lines: 0 },
    redacted: null,
    hashes: null,
    survivors: [],
    ...ending,
  }
}

export function output(stream: "stdout" | "stderr", text: string): ExecutionEvent {
  return { kind: "output", stream, bytes: Buffer.from(text), text: null, next: "c" }
}

/** Says what it is told to, and remembers what is asked of it. */
export class FakeExecution implements RemoteExecution {
  readonly id = sampleId
  readonly pid = 42
  readonly asked: string[] = []
  readonly #end = Promise.withResolvers<Completed>()
  readonly #events: ExecutionEvent[]
  /** What a write does; by default it is taken. */
  taking: () => Promise<void> = () => Promise.resolve()

  constructor(events: ExecutionEvent[] = []) {
    this.#events = events
  }

  get ended(): Promise<Completed> {
    return this.#end.promise
  }

  complete(ending: Partial<Completed> = {}): void {
    this.#end.resolve(completed(ending))
  }

  async *output(): AsyncGenerator<ExecutionEvent, void, void> {
    for (const event of this.#events) yield event
    yield { kind: "completed", completed: await this.#end.promise }
  }

  cursor(): string {
    return "c"
  }

  async pause(): Promise<void> {
    this.asked.push("pause")
  }

  async resume(): Promise<void> {
    this.asked.push("resume")
  }

  async cancel() {
    this.asked.push("cancel")
    return { status: "canceled" as const, execution_id: this.id, processes: [], survivors: [] }
  }

  async signal(signal: string | number) {
    this.asked.push(`signal ${signal}`)
    return { status: "signaled" as const, execution_id: this.id, processes: 1 }
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.asked.push(`write ${Buffer.from(data).toString("utf8")}`)
    await this.taking()
  }

  async end(): Promise<void> {
    this.asked.push("end")
  }

  async resize(cols: number, rows: number): Promise<void> {
    this.asked.push(`resize ${cols}x${rows}`)
  }

  tellSizes(): void {
    this.asked.push("tell sizes")
  }

  showScreen(): void {
    this.asked.push("show screen")
  }

  async detach(): Promise<void> {
    this.asked.push("detach")
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach()
  }
}
