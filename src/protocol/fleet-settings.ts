import { z } from "zod"

/** What a node of a fleet is told of itself and of the fleet. Paths are read by the gateway. */
export const FleetSettings = z.object({
  servers: z.array(z.string()).min(1).describe("nats:// or tls://, all alike"),
  node: z.string().describe("this node's name"),
  labels: z.record(z.string(), z.string()),
  advertise: z.object({ host: z.string(), port: z.int().min(0).max(65_535) }),
  ca: z.string(),
  cert: z.string(),
  key: z.string(),
  credentials: z.string().nullable().describe("an NKey seed"),
  lostAfterMs: z.number().positive().nullable().describe("null: never by itself"),
  unsafe: z.boolean(),
  slots: z.int().positive().describe("how many executions may run here at once"),
})
export type FleetSettings = z.infer<typeof FleetSettings>
