import type { ExecutionId } from "../../../execution/id.ts"
import type { NotifySettings, NotifyTarget } from "../../../execution/notify-target.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { ParsedParamsOf, ResultOf } from "../../../protocol/methods.ts"
import type { TargetView } from "../../../protocol/notify.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, permit, scopeOf } from "../../access/permission.ts"
import type { Courier } from "../notifications/courier.ts"
import type { NotifyOperations } from "../notify-operations.ts"
import type { OutboxReader } from "../outbox-port.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { originOf } from "./owned.ts"

export type NotifyPorts = {
  /** Null where nobody is told of anything. */
  settings: NotifySettings | null
  courier: () => Promise<Pick<Courier, "sendNow" | "failingSince"> | null>
}

type Ports = NotifyPorts & {
  link: () => Pick<KeeperLink, "call">
  outbox: () => OutboxReader
  resolve(caller: Caller, executionId: string): Result<ExecutionId, Failure>
}

/** What clients may ask about notifications. */
export function notifyOperations(ports: Ports): NotifyOperations {
  const { settings, outbox } = ports
  return {
    async list(caller, params) {
      const permitted = permit(caller, scopeOf["notify.list"])
      if (!permitted.ok) return permitted
      return listed(caller, params)
    },

    async test(caller, { target }) {
      const permitted = permit(caller, scopeOf["notify.test"])
      if (!permitted.ok) return permitted
      const named = permitTargets(caller, [target], settings)
      if (!named.ok) return named
      const asked = await ports.link().call("testTarget", { origin: originOf(caller), target })
      if (!asked.ok) return asked
      const { delivery: id } = asked.value
      const courier = await ports.courier()
      await courier?.sendNow(id)
      const [found] = outbox().deliveries({ principal: null, id }, 1)
      return found === undefined ? fail(gone) : ok(found.view)
    },
  }

  async function listed(
    caller: Caller,
    params: ParsedParamsOf<"notify.list">,
  ): Promise<Result<ResultOf<"notify.list">, Failure>> {
    const { target, state, execution_id, delivery_id: id, limit, cursor } = params
    const before = cursor === undefined ? undefined : Number(cursor)
    if (Number.isNaN(before)) return fail(notACursor)
    const execution = execution_id === undefined ? null : ports.resolve(caller, execution_id)
    if (execution?.ok === false) return execution
    const about = execution?.value
    const principal = isAdmin(caller) ? null : caller.principal
    // Whoever may see an execution may see what was told of it.
    const whose = about === undefined ? principal : null
    const found = outbox().deliveries(
      { principal: whose, target, state, about, id, before },
      limit + 1,
    )
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const more = found.length > limit && last !== undefined
    return ok({
      targets: await targetsOf(caller, principal),
      deliveries: page.map(({ view }) => view),
      ...(more ? { cursor: String(last.ordinal) } : {}),
    })
  }

  async function targetsOf(caller: Caller, principal: string | null): Promise<TargetView[]> {
    if (settings === null) return []
    const courier = await ports.courier()
    const pending = outbox().pendingByTarget(principal)
    return settings.targets
      .filter((target) => mayName(caller, target))
      .map(({ name, way }) => ({
        name,
        kind: way.kind,
        pending: pending.get(name) ?? 0,
        failing_since: courier?.failingSince(name)?.toISOString() ?? null,
      }))
  }
}

/** A target that somebody may not name does not exist for them. */
export function permitTargets(
  caller: Caller,
  named: readonly string[] | undefined,
  settings: NotifySettings | null,
): Result<null, Failure> {
  for (const name of named ?? []) {
    const target = settings?.targets.find((one) => one.name === name)
    if (target === undefined || !mayName(caller, target)) return fail(unknownTarget(name))
  }
  return ok(null)
}

function mayName(caller: Caller, { usedBy }: NotifyTarget): boolean {
  return isAdmin(caller) || usedBy === "everybody" || usedBy.includes(caller.principal)
}

function unknownTarget(name: string): Failure {
  const message =
    `There is no target ${name} that you may name: \`cc-executor notify ls\` shows those there ` +
    "are; targets are set up in the service's --notify-file."
  return failure("INVALID_PARAMS", message, { target: name })
}

const gone = failure("INTERNAL", "The test message is not on record any more.")
const notACursor = failure("INVALID_PARAMS", "`cursor` is not one of `notify.list`.")
