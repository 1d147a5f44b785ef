import { z } from "zod"
import { AgentStatus } from "../execution/agent.ts"
import { ExecutionId } from "../execution/id.ts"

const CarriedTurn = z.object({
  turnId: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  by: z.string(),
})
export type CarriedTurn = z.infer<typeof CarriedTurn>

/** What a session had not finished when the service died, as its log tells. */
export const UnfinishedWork = z.object({
  turns: z.array(CarriedTurn).describe("accepted and not ended, in their order"),
  status: AgentStatus.nullable().describe("the last one on record"),
  problem: z.string().nullable().describe("what is known to be missing, in words"),
})
export type UnfinishedWork = z.infer<typeof UnfinishedWork>

/** What the host of a session that goes on in another execution is told about the one before. */
export const HostRestart = UnfinishedWork.extend({ of: ExecutionId, attempt: z.int() })
export type HostRestart = z.infer<typeof HostRestart>

/** All that is carried over goes to the host as one order. */
export const mostCarriedCharacters = 16 * 1024 * 1024
