import { z } from "zod"

/**
 * A command that needed a service, a person who typed `serve`, or a service manager. Nobody waits
 * for the first kind, so it may be given other settings.
 */
export const StartedBy = z.enum(["command", "person", "manager"])
export type StartedBy = z.infer<typeof StartedBy>

/** What a service writes into the lock of its state directory. */
export const LockText = z.object({
  pid: z.int().positive(),
  startTicks: z.int(),
  version: z.string(),
  startedAt: z.string(),
  startedBy: StartedBy.optional().describe("absent in older versions"),
  upgrades: z.boolean().default(false).describe("whether it can hand over to another program"),
})
export type LockText = z.infer<typeof LockText>
