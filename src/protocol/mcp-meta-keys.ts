/**
 * What those between a client and the service put into the `_meta` of a `tools/call`: strangers to
 * these names ignore them.
 */

/** The same call, however often it is sent: what it starts is started once. */
export const idempotencyKeyMeta = "cc-executor/idempotency-key"

/** Where and with which variables the client itself runs, for calls that do not say. */
export const callerDefaultsMeta = "cc-executor/defaults"

/**
 * When a call was first sent, in milliseconds since 1970: who sends it again does not make it wait
 * longer than the client has patience.
 */
export const askedAtMeta = "cc-executor/asked-at"
