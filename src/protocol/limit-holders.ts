import { z } from "zod"
import { LimitHolder, type LimitsHeldBy } from "../execution/spec.ts"

/** What holds executions to each limit; null for what nothing does. */
export const LimitHolders = z.object({
  memory: LimitHolder.nullable(),
  cpu: LimitHolder.nullable(),
  pids: LimitHolder.nullable(),
})

export function limitHolders(held: LimitsHeldBy): z.infer<typeof LimitHolders> {
  return { memory: held.memoryBytes, cpu: held.cpus, pids: held.pids }
}
