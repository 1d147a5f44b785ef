import { z } from "zod"
import type { ExecutionRecord } from "../execution/record.ts"

/** How executions of one session that went on after a crash of the service belong together. */
export const restartLinks = {
  restart_of: z.string().optional().describe("the execution whose session this one goes on with"),
  restarted_as: z.string().optional().describe("the execution that goes on with the session"),
  restarts_at: z.iso.datetime().optional().describe("when the session goes on by itself"),
  interrupted: z
    .string()
    .optional()
    .describe("why the session does not go on by itself after a crash of the service"),
}

const RestartLinks = z.object(restartLinks)
type RestartLinks = z.infer<typeof RestartLinks>

export function restartLinksOf({ spec, restart }: ExecutionRecord): RestartLinks {
  const before = spec.agent?.restartOf
  const link = before === undefined ? {} : { restart_of: before }
  switch (restart?.kind) {
    case undefined:
      return link
    case "pending":
      return { ...link, restarts_at: restart.notBefore }
    case "restarted":
      return { ...link, restarted_as: restart.as }
    case "interrupted":
      return { ...link, interrupted: restart.why }
  }
}
