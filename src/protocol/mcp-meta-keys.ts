/**
 * What those between a client and the service put into the `_meta` of a `tools/call`: strangers to
 * these names ignore them.
 */

/** The same call, however often it is sent: what it starts is started once. */
export const idempotencyKeyMeta = "cc-executor/idempotency-key"

/** Where and with which variables the client itself runs, for calls that do not say. */
export const callerDefaultsMeta = "cc-executor/defaults"

/**
 * How long the client has been waiting for a call's answer, in milliseconds, where it is sent
 * again: it must not wait longer than the client has patience.
 */
export const waitedMeta = "cc-executor/waited-ms"
