import { z } from "zod"

export const executionId = z
  .string()
  .min(1)
  .max(64)
  .describe("as `start` or `list` gave it; a unique beginning of it will do")
