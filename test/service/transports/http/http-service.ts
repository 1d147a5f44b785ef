import { z } from "zod"
import { fail, ok } from "../../../../src/lib/result.ts"
import { failure, WireError } from "../../../../src/protocol/failure.ts"
import type { HealthFacts, Unreadiness } from "../../../../src/protocol/health-report.ts"
import { createHttpApp, type HttpAppOptions } from "../../../../src/service/transports/http/app.ts"
import { CallLimiter } from "../../../../src/service/transports/http/call-limiter.ts"
import { bearer } from "../../../support/callers.ts"
import { NotedRefusals } from "../../../support/noted.ts"
import { FakeExecution } from "./fake-execution.ts"
import { FakeOperations } from "./fake-operations.ts"
import { ManualTimers } from "./manual-timers.ts"

type Line = { level: string; event: string; facts: Record<string, unknown> }

const pageSession = { secret: "a-secret", expiresAt: "2026-11-17T00:00:00.000Z" }

/** The HTTP app around fakes, and what a test wants to look at. */
export function httpService(change: Partial<HttpAppOptions> = {}) {
  const operations = new FakeOperations()
  const timers = new ManualTimers()
  const refusals = new NotedRefusals()
  const lines: Line[] = []
  const reasons: Unreadiness[] = []
  const held: string[] = []
  const at = (level: string) => (facts: Record<string, unknown>, event: string) => {
    lines.push({ level, event, facts })
  }
  const app = createHttpApp({
    operations,
    health: {
      history: () => ({ every_s: 15, samples: [] }),
      facts: () => healthFacts,
      unreadiness: () => reasons,
    },
    callerOf: (request) => {
      const token = request.headers.get("authorization")
      return token === "Bearer wrong" ? fail(unauthorized) : ok(alice)
    },
    refusals,
    metrics: async () => "# no metrics\n",
    log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
    version: "1.2.3",
    maxMessageBytes: 2 * 1_048_576,
    allowedHosts: [],
    allowedOrigins: [],
    issueTicket: () => "a-ticket",
    pageSessions: { open: async () => ok(pageSession), end: async () => ok(true) },
    mcp: async () => Response.json({}),
    mcpCalls: new CallLimiter({ maxStreams: 100, maxStreamsPerPrincipal: 32 }),
    closing: new AbortController().signal,
    tarpit: { hold: async ({ reason }) => void held.push(reason) },
    streams: { maxStreams: 1000, maxStreamsPerPrincipal: 1000 },
    after: timers.after,
    ...change,
  })
  const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    })
  const run = (): { execution: FakeExecution; path: string } => {
    const execution = operations.add()
    return { execution, path: `/executions/${execution.record.id}` }
  }
  return { app, operations, timers, refusals, lines, reasons, held, get, post, run }
}

export const healthFacts: HealthFacts = {
  uptime_s: 12,
  gateway_uptime_s: 5,
  containment: "cgroup",
  containment_reason: null,
  limits_held_by: { memory: "cgroup", cpu: "cgroup", pids: "cgroup" },
  open_files: { limit: 1024, maximum: null, needed: 488 },
  processes: { limit: null, maximum: null },
  rss_bytes: { keeper: 50_000_000, gateway: null },
  certificate_expires_at: null,
  sessions: 3,
  executions: { running: 2, queued: 1 },
}

/** What a promise is rejected with. */
export function rejectionOf(promise: Promise<unknown> | undefined): Promise<unknown> {
  return (promise ?? Promise.resolve()).then(
    () => null,
    (error: unknown) => error,
  )
}

export const alice = bearer("alice", "execute", "control", "read")

const unauthorized = failure("UNAUTHORIZED", "Say who you are.")

const ErrorBody = z.strictObject({ error: WireError })

/** The status and the stable reason of a refusal: what clients decide by. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const { error } = ErrorBody.parse(await response.json())
  return [response.status, error.data.reason]
}
