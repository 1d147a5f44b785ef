import { z } from "zod"

/** What whoever upgrades a service asks of it, by a file in its state directory. */
export const UpgradeRequest = z.object({
  upgrade: z.string().min(1).max(64).describe("names the attempt"),
  program: z.array(z.string().min(1)).min(1).describe("how to start the program to change to"),
})
export type UpgradeRequest = z.infer<typeof UpgradeRequest>

/** What the service says of it, by another file. */
export const UpgradeReport = z.discriminatedUnion("phase", [
  z.object({ upgrade: z.string(), phase: z.literal("checking") }),
  z.object({
    upgrade: z.string(),
    phase: z.literal("waiting"),
    executions: z.array(z.string()).describe("those in the middle of something"),
  }),
  z.object({ upgrade: z.string(), phase: z.literal("handing-over") }),
  z.object({
    upgrade: z.string(),
    phase: z.literal("done"),
    from: z.string(),
    to: z.string(),
    pid: z.int(),
    executions: z.int().min(0).describe("handed over while they ran"),
    queued: z.int().min(0),
    heldMs: z.number().describe("how long nobody read what executions wrote"),
  }),
  z.object({ upgrade: z.string(), phase: z.literal("refused"), why: z.string() }),
])
export type UpgradeReport = z.infer<typeof UpgradeReport>
