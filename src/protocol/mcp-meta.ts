import { z } from "zod"
import { ExecuteParams } from "./execute.ts"

/** What is under `callerDefaultsMeta`. */
const { cwd, env } = ExecuteParams.shape
export const CallerDefaults = z.object({ cwd, env })
export type CallerDefaults = z.infer<typeof CallerDefaults>
