import { rmdirSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { LimitsHeldBy } from "../../execution/spec.ts"
import { isErrno } from "../../lib/errno.ts"
import { rlimitHolders } from "../../service/os/children/rlimits.ts"
import { openCgroupBase } from "../../service/os/trees/cgroup-base.ts"
import { cgroupHolders } from "../../service/os/trees/containment.ts"
import { ownScope, serviceEnvironment } from "../connect/service-environment.ts"
import type { Context } from "../context.ts"

const Offer = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("cgroup"), base: z.string(), holders: LimitsHeldBy }),
  z.object({ mode: z.literal("best-effort"), why: z.string(), holders: LimitsHeldBy }),
])
/** How a service started here would hold executions together. */
type ContainmentOffer = z.infer<typeof Offer> & { scope: boolean }

/**
 * Asked in a process of its own, started the way a service would be: the question moves whoever
 * asks into a cgroup, where this one should not be left.
 */
export async function containmentOffer(context: Context): Promise<ContainmentOffer> {
  const scope = await ownScope(context.env)
  const asked = Bun.spawn([...scope, ...context.self, "__containment"], {
    env: serviceEnvironment(context.env),
    stdio: ["ignore", "pipe", "ignore"],
  })
  const text = await asked.stdout.text()
  await asked.exited
  const offer = Offer.parse(JSON.parse(text))
  if (offer.mode === "cgroup") tidy(offer.base)
  return { ...offer, scope: scope.length > 0 }
}

export async function probe(context: Context): Promise<number> {
  const base = openCgroupBase(`doctor-${process.pid}`)
  const rlimits = rlimitHolders(process.getuid?.() ?? 0)
  const offer = base.ok
    ? { mode: "cgroup", base: base.value.path, holders: cgroupHolders(base.value, rlimits) }
    : { mode: "best-effort", why: base.failure, holders: rlimits }
  await context.stdout.write(JSON.stringify(offer))
  return 0
}

function tidy(base: string): void {
  for (const path of [join(base, "supervisor"), base]) {
    try {
      rmdirSync(path)
    } catch (error) {
      // EBUSY: the kernel has not quite let go of the process that asked; the next doctor tidies.
      if (!isErrno(error, "ENOENT", "EBUSY")) throw error
    }
  }
}
