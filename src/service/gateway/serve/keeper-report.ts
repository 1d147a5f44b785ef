import type { Result } from "../../../lib/result.ts"
import { singleFlight } from "../../../lib/single-flight.ts"
import type { Failure } from "../../../protocol/failure.ts"
import { afterTimer } from "../../transports/http/app.ts"
import type { KeeperLink } from "../operations/keeper-link.ts"

/** How long a health page or a scrape waits for the keeper. */
const keeperPatienceMs = 1000

/** What the keeper says of itself; null where it does not answer in time. */
export function keeperReport(keeper: KeeperLink) {
  const condition = () => keeper.call("condition", {})
  const askObstacles = singleFlight(condition, keeperPatienceMs, afterTimer)
  const askMetrics = singleFlight(() => keeper.call("metrics", {}), keeperPatienceMs, afterTimer)
  return {
    obstacles: async () => valueOf(await askObstacles())?.obstacles ?? null,
    metrics: async () => valueOf(await askMetrics())?.metrics ?? null,
  }
}

function valueOf<Value>(answer: Result<Value, Failure> | null): Value | null {
  return answer?.ok === true ? answer.value : null
}
