import type { ProcessIdentity } from "../../../src/execution/record.ts"
import { descendantsOf } from "../../support/real-processes.ts"
import type { Service } from "../../support/service.ts"
import { until } from "../../support/until.ts"
import { openFilesOf } from "./open-files.ts"

/** What keeper and gateway have open, once the sessions that have ended are closed. */
export async function settledFds(service: Service): Promise<{ keeper: number; gateway: number }> {
  let last = ""
  let sameSinceMs = performance.now()
  return until("the number of open files stays the same for half a second", () => {
    const fds = { keeper: openFilesOf(service.pid), gateway: openFilesOf(service.gatewayPid) }
    if (JSON.stringify(fds) !== last) {
      last = JSON.stringify(fds)
      sameSinceMs = performance.now()
    }
    return performance.now() - sameSinceMs > 500 && fds
  })
}

/** Live processes below the keeper, which adopts every orphan, other than the gateway. */
export function strangersBelow(service: Service): ProcessIdentity[] {
  return descendantsOf(service.pid).filter(({ pid }) => pid !== service.gatewayPid)
}
