import { type ExecutionId, ExecutionId as IdSchema } from "../execution/id.ts"
import { identify } from "../execution/identify.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Caller } from "../service/access/caller.ts"
import { maySee } from "../service/access/permission.ts"
import type { JournalReader } from "../service/gateway/ports.ts"
import { principalInFleet, viewerInFleet } from "./fleet-caller.ts"
import type { Mirror } from "./mirror-port.ts"

type IdentifyPorts = { self: string; mirror: Mirror; journal: () => JournalReader }

/** Which execution of which node is meant, as far as this node knows of it. */
export function identifyInFleet(
  caller: Caller,
  given: string,
  { self, mirror, journal: open }: IdentifyPorts,
): Result<{ id: ExecutionId; isOwn: boolean }, Failure> {
  const journal = open()
  if (IdSchema.safeParse(given).success) {
    return ok({ id: given, isOwn: journal.owned(given) !== null })
  }
  const viewer = viewerInFleet(caller, self)
  const own = viewerOfOwn(caller)
  const { principal } = caller
  const inFleet = principalInFleet(principal, self)
  const identified = identify(given, principal, {
    withName: (name) => [
      ...journal.withName(name, principal, own),
      ...mirror
        .withName(name, inFleet, viewer)
        .map((one) => (one.principal === inFleet ? { ...one, principal } : one)),
    ],
    withPrefix: (prefix, limit) => [
      ...journal.withPrefix(prefix, limit, own),
      ...mirror.withPrefix(prefix, limit, viewer),
    ],
  })
  switch (identified.kind) {
    case "found":
      return ok({ id: identified.id, isOwn: journal.owned(identified.id) !== null })
    case "unknown":
      return fail(notFound(given))
    case "ambiguous": {
      const { candidates, message } = identified
      return fail(failure("PROCESS_NOT_FOUND", message, { candidates }))
    }
  }
}

export function notFound(given: string): Failure {
  return failure("PROCESS_NOT_FOUND", `Unknown execution: ${JSON.stringify(given)}.`)
}

function viewerOfOwn(caller: Caller) {
  if (caller.scopes.has("admin")) return null
  const { principal } = caller
  return { principal, maySee: (owned: Parameters<typeof maySee>[1]) => maySee(caller, owned) }
}
