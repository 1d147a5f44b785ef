import type { Worktree } from "../../../execution/worktree.ts"

/** The worktree that a session works in, and the directory in it. */
export type Workplace = { worktree: Worktree; cwd: string }
