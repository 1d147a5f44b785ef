import { z } from "zod"
import { ExecutionId } from "./id.ts"

/** What becomes of an agent's session that ended because the service died. */
export const Restart = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("pending"),
    attempt: z.int().positive().describe("how many in a row without a turn that ended"),
    notBefore: z.iso.datetime(),
  }),
  z.object({ kind: z.literal("restarted"), as: ExecutionId }),
  /** It does not go on by itself: somebody has to. */
  z.object({
    kind: z.literal("interrupted"),
    why: z.string(),
    missing: z.array(z.string()).describe("names of variables whose values are not stored"),
  }),
])
export type Restart = z.infer<typeof Restart>

/** Waits before one restart after another, as long as no turn ends in between. */
const waitsMs = [0, 5_000, 30_000, 120_000, 600_000]
export const mostRestarts = waitsMs.length

export function waitBefore(attempt: number): number {
  return waitsMs[attempt - 1] ?? 0
}
