import { z } from "zod"
import { ProcessIdentity } from "../execution/record.ts"

/** What whoever upgrades a service asks of it, by a file in its state directory. */
export const UpgradeRequest = z.object({
  upgrade: z.string().min(1).max(64).describe("names the attempt"),
  program: z.array(z.string().min(1)).min(1).describe("how to start the program to change to"),
  args: z
    .array(z.string())
    .optional()
    .describe("what to start it with: other settings; without them, what the service has now"),
  asker: ProcessIdentity.optional().describe("who waits for it, and without whom it is given up"),
  takeOverMs: z.int().min(1).optional().describe("how long it may take until it has taken over"),
})
export type UpgradeRequest = z.infer<typeof UpgradeRequest>

/** Where clients reach a service, or why those on the network do not. */
export const Listening = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("port"), url: z.string() }),
  z.object({ kind: z.literal("socket"), path: z.string() }),
  z.object({ kind: z.literal("failed"), why: z.string() }),
])
export type Listening = z.infer<typeof Listening>

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
    listening: Listening.optional().describe("absent in reports of older versions"),
    said: z.array(z.string()).optional().describe("to whoever would have started it, in words"),
  }),
  z.object({
    upgrade: z.string(),
    phase: z.literal("refused"),
    why: z.string(),
    tookBack: z
      .string()
      .optional()
      .describe("what kept a program from going on that had begun to take over"),
  }),
])
export type UpgradeReport = z.infer<typeof UpgradeReport>
