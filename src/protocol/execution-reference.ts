import { z } from "zod"

/** How clients name an execution. */
export const executionId = z
  .string()
  .min(1)
  .max(256)
  .describe("an execution's id, a unique prefix of it, or its name")
