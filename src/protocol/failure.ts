import { z } from "zod"

/** The stable names of everything that can be refused, and their codes on the wire. */
const codes = {
  PARSE_ERROR: { rpc: -32700, http: 400 },
  INVALID_REQUEST: { rpc: -32600, http: 400 },
  METHOD_NOT_FOUND: { rpc: -32601, http: 404 },
  INVALID_PARAMS: { rpc: -32602, http: 400 },
  INTERNAL: { rpc: -32603, http: 500 },
  SECURITY_DENIED: { rpc: -32602, http: 403 },
  SESSION_LIMIT: { rpc: -32001, http: 503 },
  PROCESS_NOT_FOUND: { rpc: -32003, http: 404 },
  STREAM_TIMEOUT: { rpc: -32004, http: 408 },
  RATE_LIMITED: { rpc: -32005, http: 429 },
  AT_CAPACITY: { rpc: -32006, http: 503 },
  UNAUTHORIZED: { rpc: -32007, http: 401 },
  FORBIDDEN: { rpc: -32007, http: 403 },
  WRONG_STATE: { rpc: -32008, http: 409 },
  SPAWN_FAILED: { rpc: -32009, http: 422 },
  EXPIRED: { rpc: -32010, http: 410 },
  IDEMPOTENCY_MISMATCH: { rpc: -32011, http: 409 },
  DISK_FULL: { rpc: -32012, http: 507 },
  SHUTTING_DOWN: { rpc: -32013, http: 503 },
  NAME_IN_USE: { rpc: -32014, http: 409 },
  ALREADY_ANSWERED: { rpc: -32015, http: 409 },
  SESSION_BUSY: { rpc: -32016, http: 409 },
  OUTCOME_UNKNOWN: { rpc: -32017, http: 504 },
  GIT_REFUSED: { rpc: -32018, http: 409 },
  TRIAL_NOT_FOUND: { rpc: -32019, http: 404 },
  NOT_ANNOUNCED: { rpc: -32021, http: 409 },
  FLEET_UNAVAILABLE: { rpc: -32022, http: 503 },
} as const

function isReason(name: string): name is keyof typeof codes {
  return Object.hasOwn(codes, name)
}

/** Clients decide by these, not by the codes. */
export const Reason = z.enum(Object.keys(codes).filter(isReason))
export type Reason = z.infer<typeof Reason>

/** A refusal: what happened, to what, why, and what to do now. The same words reach everyone. */
export const Failure = z.object({
  reason: Reason,
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  audited: z.boolean().optional().describe("the keeper has noted it; clients are not told this"),
})
export type Failure = z.infer<typeof Failure>

export function failure(
  reason: Reason,
  message: string,
  details?: Record<string, unknown>,
): Failure {
  return details === undefined ? { reason, message } : { reason, message, details }
}

export function withDetails(refused: Failure, more: Record<string, unknown>): Failure {
  return { ...refused, details: { ...refused.details, ...more } }
}

export function wireCodes(reason: Reason): { rpc: number; http: number } {
  return codes[reason]
}

/** The error object as JSON-RPC and HTTP answers carry it. */
export const WireError = z.object({
  code: z.int(),
  message: z.string(),
  data: z.looseObject({ reason: Reason }),
})
export type WireError = z.infer<typeof WireError>

export function wireError(refused: Failure): WireError {
  return {
    code: codes[refused.reason].rpc,
    message: refused.message,
    data: { ...refused.details, reason: refused.reason },
  }
}

export function failureFrom(error: WireError): Failure {
  const { reason, ...details } = error.data
  return failure(reason, error.message, details)
}
