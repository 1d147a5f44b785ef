import type { Server, ServerWebSocket } from "bun"
import { type Chance, oneOf, someBytes } from "../../support/chance.ts"
import { hostileValue, mutated } from "../../support/hostile-values.ts"
import { seededRandom } from "../../support/seeded-random.ts"

const executionId = "a".repeat(26)

/** Results as a real server would give them, before something is done to them. */
const results: Record<string, Record<string, unknown>> = {
  execute: {
    status: "started",
    execution_id: executionId,
    pid: 7,
    pgid: 7,
    subscription: 1,
    ack_after_bytes: 10,
  },
  attach: {
    execution_id: executionId,
    state: "running",
    from: "start",
    available_from: "start",
    subscription: 1,
  },
  list: { executions: [] },
  input: { accepted: 1, offset: 1 },
  control: { status: "paused", execution_id: executionId },
}

const muchLater = { reason: "RATE_LIMITED", retry_after: 3000 }

const about = { execution_id: executionId }
const notices: [string, Record<string, unknown>][] = [
  ["process.started", { ...about, status: "running", pid: 7, pgid: 7 }],
  ["process.paused", { ...about, status: "paused", pid: 7, pgid: 7 }],
  [
    "process.output",
    {
      ...about,
      type: "stdout",
      data: "text\n",
      sequence: 0,
      next: "1.0.0.0.0.0",
      time: "2026-01-01T00:00:00.000Z",
      truncated: false,
    },
  ],
  ["process.gap", { ...about, from: "start", next: "x", bytes: 1, lines: 1, reason: "budget" }],
  ["process.error", { ...about, error: { code: 1, message: "No.", data: { reason: "EXPIRED" } } }],
  [
    "process.completed",
    {
      ...about,
      status: "completed",
      exit_code: 0,
      signal: null,
      outcome: "exited",
      cause: null,
      execution_time: 1,
      bytes: { stdout: 5, stderr: 0 },
      lines: { stdout: 1, stderr: 0 },
      dropped: { bytes: 0, lines: 0 },
      hashes: null,
      survivors: [],
    },
  ],
  ["execution.changed", { ...about, state: "running" }],
  ["connected", { session_id: "again", version: "1", capabilities: [] }],
]

/** A server that greets, most of the time, and then says whatever comes to its mind. */
export class HostileServer implements AsyncDisposable {
  readonly #chance: Chance
  readonly #server: Server<undefined>

  constructor(seed: number) {
    this.#chance = seededRandom(seed)
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) =>
        server.upgrade(request) ? undefined : new Response(null, { status: 400 }),
      websocket: {
        open: (socket) => this.#greet(socket),
        message: (socket, text) => this.#answer(socket, String(text)),
      },
    })
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#server.port}/ws/mcp`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }

  #greet(socket: ServerWebSocket): void {
    if (this.#chance(8) === 0) return this.#babble(socket)
    const params = { session_id: "one", version: "1", capabilities: [] }
    socket.send(JSON.stringify({ jsonrpc: "2.0", method: "connected", params }))
  }

  #answer(socket: ServerWebSocket, text: string): void {
    const chance = this.#chance
    const { id, method }: { id?: unknown; method?: string } = Object(JSON.parse(text))
    for (let count = chance(4); count > 0; count -= 1) this.#babble(socket)
    const result = results[method ?? ""] ?? {}
    const answer = oneOf<unknown>(chance, [
      { id, result },
      { id, result },
      { id, result: mutated(chance, result) },
      { id, result: hostileValue(chance) },
      { id, error: hostileValue(chance) },
      { id, error: { code: -32_005, message: "Later.", data: muchLater } },
      { id: hostileValue(chance), result },
    ])
    socket.send(JSON.stringify(Object.assign({ jsonrpc: "2.0" }, answer)))
    for (let count = chance(6); count > 0; count -= 1) this.#babble(socket)
  }

  #babble(socket: ServerWebSocket): void {
    const chance = this.#chance
    const [first, ...others] = notices
    if (first === undefined) return
    const [method, params] = oneOf(chance, [first, ...others])
    switch (chance(9)) {
      case 0:
        socket.send(Uint8Array.of(1, 1, 0, 1, 0, 0, 0, 1, 0x78, ...someBytes(chance, chance(9))))
        return
      case 1:
        if (chance(6) === 0) socket.send(someBytes(chance, chance(30)))
        return
      case 2:
        if (chance(6) === 0) socket.send(JSON.stringify(hostileValue(chance)) ?? "")
        return
      case 3:
        if (chance(6) === 0) socket.close(oneOf(chance, [1000, 1008, 1011, 4000]))
        return
      case 4:
        socket.send(JSON.stringify({ method, params: mutated(chance, params) }))
        return
      default:
        socket.send(JSON.stringify({ jsonrpc: "2.0", method, params }))
    }
  }
}
