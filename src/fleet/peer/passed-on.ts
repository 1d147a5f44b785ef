import { ExecutionIdPrefix } from "../../execution/id.ts"
import type { KeeperLink } from "../../service/gateway/operations/keeper-link.ts"
import { originOf } from "../../service/gateway/operations/owned.ts"
import type { PassedOn } from "../ports.ts"

const mostWriters = 1_000

/**
 * Notes in this node's trail what another node has done for a caller of this one. Of inputs to an
 * execution, the first of each principal: the other node counts the others.
 */
export function notePassedOn(link: () => KeeperLink): PassedOn {
  const writers = new Set<string>()

  return async (caller, { node, method, executionId }) => {
    const id = ExecutionIdPrefix.safeParse(executionId).data
    if (method === "input" && !isFirst(`${caller.principal} ${executionId}`)) return
    await link().call("auditPassedOn", {
      attempt: {
        event: "attempt",
        ...originOf(caller),
        to_node: node,
        method,
        ...(id === undefined ? {} : { execution_id: id }),
        outcome: "allowed",
      },
    })
  }

  function isFirst(writer: string): boolean {
    if (writers.has(writer)) return false
    const [oldest] = writers
    if (writers.size >= mostWriters && oldest !== undefined) writers.delete(oldest)
    writers.add(writer)
    return true
  }
}
