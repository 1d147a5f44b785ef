import { type Deed, deeds } from "./deeds.ts"
import { TargetsFile } from "./notification-receiver.ts"
import type { RawSession } from "./raw-session.ts"

/** What can be asked about notifications, and how to see whether it was done. */

const target = "nowhere"

/** A file with the one target that is asked about; nobody listens there. */
export function notifyDeedTargets(): TargetsFile {
  const url = "http://127.0.0.1:9/"
  return new TargetsFile({ [target]: { kind: "webhook", url, used_by: "everybody" } })
}

export const aboutTarget = { target }

export const notifyDeeds = {
  tests: {
    stage: async (owner, word) => ({ id: String(await countTests(owner)), word }),
    isDone: async (owner, { id }) => (await countTests(owner)) > Number(id),
  },
  shows: deeds.shows,
} satisfies Record<string, Deed>

async function countTests(owner: RawSession): Promise<number> {
  const { deliveries } = await owner.call("notify.list", { target, limit: 1000 })
  return deliveries.filter(({ event }) => event === "test").length
}
