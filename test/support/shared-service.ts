import { afterAll, afterEach, beforeAll } from "bun:test"
import { Service, type ServiceOptions } from "./service.ts"
import { clientOf } from "./steered.ts"

/**
 * One service for all tests of a file or a `describe`, for those that do not disturb each other.
 * What a test leaves running, because it failed, is canceled before the next.
 */
export function sharedService(options: ServiceOptions = {}): () => Service {
  let shared: Service | null = null

  beforeAll(async () => {
    shared = await Service.start(options)
  })

  afterEach(async () => {
    if (shared !== null) await cancelAll(shared)
  })

  afterAll(async () => {
    await shared?.[Symbol.asyncDispose]()
  })

  return () => {
    if (shared === null) throw new Error("the shared service has not been started")
    return shared
  }
}

async function cancelAll(service: Service): Promise<void> {
  await using client = await clientOf(service)
  const { executions } = await client.call("list", {})
  const left = executions.filter(({ state }) => state !== "ended")
  const orders = left.map(({ execution_id }) =>
    client.call("control", { type: "CANCEL", execution_id }),
  )
  await Promise.allSettled(orders) // one may have ended by now
}
