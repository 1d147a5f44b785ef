import { z } from "zod"

/** A branch and a directory are named after it. */
export const WorktreeName = z
  .string()
  .regex(/^(?!.*\.\.)(?!.*\.(?:lock)?$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: "must be 1 to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit",
  })

/** The git worktree that an agent's session has to itself, as it was made. */
export const Worktree = z.object({
  name: z.string(),
  path: z.string(),
  branch: z.string(),
  base: z.string().describe("the checkout it was made from"),
  onto: z.string().nullable().describe("the branch of that checkout; null where it had none"),
  commit: z.string().describe("what it began with"),
})
export type Worktree = z.infer<typeof Worktree>
