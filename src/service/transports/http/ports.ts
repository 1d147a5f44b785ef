import type { Context } from "hono"
import type { z } from "zod"
import type { Result } from "../../../lib/result.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { HealthFacts, History, Unreadiness } from "../../../protocol/health-report.ts"
import type { Caller } from "../../access/caller.ts"
import type { Peer } from "../../access/identify.ts"
import type { Operations, Refusal } from "../../gateway/ports.ts"

/** How a request came in: `app.fetch(request, connection)`. */
export type Connection = {
  peer?: Peer
  /**
   * All of the request has arrived: from here on it may take its time. False when its connection
   * was closed meanwhile: nobody will get the answer, so it is not to be carried out.
   */
  hasArrived?: () => Promise<boolean>
  /** All of the answer is on its way: the next request is due. */
  hasAnswered?: () => void
}

/** What a request asks for, as far as it is known. */
export type Asked = Pick<Refusal, "principal" | "method" | "executionId">

export type HttpEnvironment = {
  Bindings: Connection
  Variables: { requestId: string; caller: Caller | null; asked?: Asked }
}
export type HttpContext = Context<HttpEnvironment>

/** Who asks. A failure (`UNAUTHORIZED`, `RATE_LIMITED`) is the answer to the request. */
export type CallerOf = (
  request: Request,
  connection: Connection,
) => Result<Caller, Failure> | Promise<Result<Caller, Failure>>

export interface Health {
  /** How it was lately. */
  history(): z.infer<typeof History>
  facts(): HealthFacts
  /** What keeps the service from taking work; empty when it is ready. */
  unreadiness(): Unreadiness[] | Promise<Unreadiness[]>
}

/** All metrics, as text. */
export type Metrics = () => Promise<string>

/** A request was answered; `operation` is the name of a route. */
export type Answered = (operation: string, status: number, seconds: number) => void

export type After = (delayMs: number, run: () => void) => Disposable

/** So many bytes were made and sent: what they were made from is garbage now. */
export type ReportGarbage = (bytes: number) => void

/** Secrets that web pages have in the place of tokens. */
export interface PageSessions {
  open(caller: Caller): Promise<Result<{ secret: string; expiresAt: string }, Failure>>
  /** Whether the caller has come with one. */
  end(caller: Caller): Promise<Result<boolean, Failure>>
}

/** What a route may use. */
export type RoutePorts = {
  operations: Operations
  health: Health
  metrics: Metrics
  after: After
  reportGarbage: ReportGarbage
  version: string
  document: () => Record<string, unknown>
  /** Gives out tickets: see `Tickets`. */
  issueTicket: (caller: Caller) => string
  pageSessions: PageSessions
  /** For a body that goes on: it takes this over, and disposes it at its end. */
  streamSlot: DisposableStack
}

/** Hono's types promise an environment, but without one given to `fetch` there is none. */
export function connectionOf(c: HttpContext): Connection {
  const given: Connection | undefined = c.env
  return given ?? {}
}
