import { cpuMsOf } from "../../support/cpu-time.ts"
import type { Service } from "../../support/service.ts"

/** CPU time of each keeper per execution, and what the one is to the other. */
export type CostComparison = { freshMs: number; grownMs: number; ratio: number }

/** Runs as many executions on a service as a window has. */
export type Work = (service: Service) => Promise<void>

export type Windows = { executions: number; least: number; most: number }

/**
 * What the same work costs the keeper of a service that has done much, and that of a fresh one
 * beside it. Both work at the same time, so that they meet the same machine: whatever changes its
 * speed, or takes its caches, falls on both. Chance is left, and is the less the more windows there
 * are; as long as the ratio is above what is allowed, there are more of them, up to `most`. What
 * really grows stays above.
 */
export async function compareCosts(
  services: { fresh: Service; grown: Service },
  windows: Windows & { mostRatio: number },
  work: Work,
): Promise<CostComparison> {
  const costs = { freshMs: 0, grownMs: 0 }
  const ratio = () => costs.grownMs / costs.freshMs
  let done = 0
  while (done < windows.least || (ratio() > windows.mostRatio && done < windows.most)) {
    const [freshMs, grownMs] = await Promise.all([
      costOf(services.fresh, work),
      costOf(services.grown, work),
    ])
    costs.freshMs += freshMs
    costs.grownMs += grownMs
    done += 1
  }
  const executions = done * windows.executions
  return {
    freshMs: costs.freshMs / executions,
    grownMs: costs.grownMs / executions,
    ratio: ratio(),
  }
}

async function costOf(service: Service, work: Work): Promise<number> {
  const beforeMs = cpuMsOf(service.pid)
  await work(service)
  return cpuMsOf(service.pid) - beforeMs
}
