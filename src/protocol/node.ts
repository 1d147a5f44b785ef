import { z } from "zod"
import { NodeName } from "../execution/placement.ts"

const nothing = z.object({})
const oneNode = z.object({ node: NodeName })

export const NodeView = z.object({
  node: z.string(),
  state: z.enum(["joining", "ready", "draining", "unreachable", "forgotten"]),
  self: z.boolean().describe("it is the one that was asked"),
  epoch: z.int(),
  labels: z.record(z.string(), z.string()),
  slots: z.int(),
  running: z.int().describe("executions that have not ended, as it told last"),
  address: z.string(),
  version: z.string(),
  receipt_key: z
    .string()
    .nullable()
    .describe("that signs its receipts (PEM), as its certificate vouches for it"),
  silent: z.number().describe("seconds since the node that was asked heard of it"),
})
export type NodeView = z.infer<typeof NodeView>

export const EngineView = z.object({
  connected: z.boolean(),
  version: z.string().nullable(),
  replicas: z.int().nullable(),
  servers: z.array(z.object({ name: z.string(), version: z.string(), syncs_always: z.boolean() })),
  problems: z.array(z.string()).describe("why what it acknowledges may be lost"),
  unsafe: z.boolean().describe("it is used all the same"),
})
export type EngineView = z.infer<typeof EngineView>

export const nodeMethods = {
  "node.list": {
    params: nothing.prefault({}),
    result: z.object({
      nodes: z.array(NodeView),
      engine: EngineView,
      missing: z.string().nullable().describe("why nothing can be placed now"),
    }),
  },
  "node.drain": { params: oneNode, result: nothing },
  "node.undrain": { params: oneNode, result: nothing },
  "node.forget": { params: oneNode, result: z.object({ lost: z.int() }) },
} as const
