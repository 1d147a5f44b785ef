import type { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import {
  type GatewayMessage,
  KeeperMessage,
  type KeeperMethod,
  type KeeperRequest,
  type KeeperResult,
  keeperMethods,
} from "../../../protocol/ipc.ts"

export type KeeperUpdates = Extract<KeeperMessage, { kind: "updates" }>

export interface KeeperLink {
  readonly settings: GatewaySettings
  /** Asks the keeper. `answered` runs before any update that the keeper sent after its answer. */
  call<Name extends KeeperMethod>(
    method: Name,
    params: KeeperRequest<Name>,
    answered?: (result: KeeperResult<Name>) => void,
  ): Promise<Result<KeeperResult<Name>, Failure>>
}

export interface OpenKeeperLink extends KeeperLink {
  /** Whether clients may be answered at once; else they may when `admitted` resolves. */
  readonly admitsAtOnce: boolean
  readonly admitted: Promise<void>
  /**
   * The keeper is gone: whoever only wanted to know something of it is told so, now and from now
   * on. What it was to do stays without an answer: nobody knows whether it was done.
   */
  lose(): void
}

export type LinkEvents = {
  updated(updates: KeeperUpdates): void
  /** Whether the service still starts new executions. */
  draining(isDraining: boolean): void
  connections(): number
}

/** The channel to the keeper as this process finds it. */
export interface Channel {
  send(message: GatewayMessage): void
  onMessage(received: (message: unknown) => void): void
}

type Pending = { method: KeeperMethod; settle(outcome: Result<unknown, Failure>): void }

/** Waits for the keeper's settings; from then on the link is open. */
export async function openKeeperLink(
  channel: Channel,
  events: LinkEvents,
): Promise<OpenKeeperLink> {
  const pending = new Map<number, Pending>()
  const configured = Promise.withResolvers<Extract<KeeperMessage, { kind: "configure" }>>()
  const admitted = Promise.withResolvers<void>()
  let lastId = 0
  let isLost = false

  channel.onMessage((raw) => {
    const message = KeeperMessage.parse(raw)
    switch (message.kind) {
      case "configure":
        configured.resolve(message)
        return
      case "admit":
        admitted.resolve()
        return
      case "answer":
        settle(message.id, ok(message.result))
        return
      case "refusal":
        settle(message.id, fail(message.failure))
        return
      case "updates":
        try {
          events.updated(message)
        } finally {
          // Even if a reader failed: the keeper sends nothing more until this is acknowledged.
          channel.send({ kind: "updates-received" })
        }
        return
      case "ping":
        events.draining(message.draining)
        channel.send({ kind: "pong", connections: events.connections() })
        return
    }
  })

  function settle(id: number, outcome: Result<unknown, Failure>): void {
    const request = pending.get(id)
    if (request === undefined) throw new Error(`the keeper answered ${id}, which nobody asked`)
    pending.delete(id)
    request.settle(outcome)
  }

  const { settings, admits } = await configured.promise
  return {
    settings,
    admitsAtOnce: admits,
    admitted: admitted.promise,
    call<Name extends KeeperMethod>(
      method: Name,
      params: KeeperRequest<Name>,
      answered?: (result: KeeperResult<Name>) => void,
    ) {
      if (isLost) return Promise.resolve(fail(keeperGone))
      lastId += 1
      const id = lastId
      return new Promise<Result<KeeperResult<Name>, Failure>>((resolve) => {
        pending.set(id, {
          method,
          settle(outcome) {
            if (!outcome.ok) {
              resolve(outcome)
              return
            }
            const result = readResult(method, outcome.value)
            if (result === null) {
              const message = `The keeper's answer to ${method} could not be read.`
              resolve(fail(failure("INTERNAL", message)))
              return
            }
            answered?.(result)
            resolve(ok(result))
          },
        })
        channel.send({ kind: "request", id, method, params })
      })
    },
    lose() {
      isLost = true
      for (const [id, { method }] of pending) if (!deeds.has(method)) settle(id, fail(keeperGone))
    },
  }
}

const deeds: ReadonlySet<KeeperMethod> = new Set([
  "start",
  "control",
  "input",
  "resize",
  "remove",
  "beginTrial",
  "endTrial",
])

export const keeperGone = failure(
  "SHUTTING_DOWN",
  "The process that ran the executions has died: all of them are ended now, and recorded as lost " +
    "when the service has started again.",
  { retry_after: 1 },
)

const resultSchemas: { [Name in KeeperMethod]: { result: z.ZodType<KeeperResult<Name>> } } =
  keeperMethods

function readResult<Name extends KeeperMethod>(
  method: Name,
  value: unknown,
): KeeperResult<Name> | null {
  return resultSchemas[method].result.safeParse(value).data ?? null
}
