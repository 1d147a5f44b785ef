import { z } from "zod"
import { Worktree } from "../execution/worktree.ts"
import { executionId } from "./execution-reference.ts"

const ChangedFile = z.object({
  path: z.string(),
  added: z.int().nullable().describe("lines; null for a file that is not text"),
  removed: z.int().nullable(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

/** How much a worktree differs from the branch that it was made from. */
export const Changes = z.object({
  worktree: Worktree,
  exists: z.boolean().describe("false once it was taken, dropped, or removed by hand"),
  commits: z.int().describe("that the branch it was made from does not have"),
  subjects: z.array(z.string()).describe("of the newest of them"),
  files: z.int(),
  added: z.int().describe("lines"),
  removed: z.int(),
  changed: z.array(ChangedFile).describe("the first of these files"),
  uncommitted: z.int().describe("files with changes that are not committed, new ones too"),
  untracked: z.int().describe("those of them that are new to git"),
  ignored: z.int().describe("files and directories that git ignores"),
})
export type Changes = z.infer<typeof Changes>

export const Taken = Changes.pick({
  commits: true,
  files: true,
  added: true,
  removed: true,
}).extend({
  into: z.string().describe("the branch that has the commits now"),
  uncommitted: z.int().describe("files whose changes were not committed, and are not here either"),
})
export type Taken = z.infer<typeof Taken>

export const Dropped = Changes.pick({ commits: true, uncommitted: true, ignored: true }).extend({
  kept: z.string().nullable().describe("a commit that still has it, until git collects garbage"),
})
export type Dropped = z.infer<typeof Dropped>

const oneExecution = z.object({ execution_id: executionId })

export const worktreeMethods = {
  "agent.changes": { params: oneExecution, result: Changes },
  "agent.take": { params: oneExecution, result: Taken },
  "agent.drop": {
    params: oneExecution.extend({
      force: z.boolean().default(false).describe("even if work would be lost"),
    }),
    result: Dropped,
  },
} as const

/** What the program that runs git is asked: one request, in JSON, as its argument. */
export const WorktreeRequest = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("make"),
    name: z.string(),
    cwd: z.string(),
    busy: z.array(z.string()).describe("paths that live sessions work in"),
  }),
  z.object({ do: z.literal("undo"), worktree: Worktree }),
  z.object({ do: z.literal("changes"), worktree: Worktree, id: z.string() }),
  z.object({ do: z.literal("take"), worktree: Worktree, id: z.string() }),
  z.object({
    do: z.literal("drop"),
    worktree: Worktree,
    force: z.boolean(),
    id: z.string().describe("of its execution, for what people are told"),
  }),
])
export type WorktreeRequest = z.infer<typeof WorktreeRequest>

export const MadeWorktree = z.object({
  worktree: Worktree,
  cwd: z.string().describe("where in it the session works"),
  note: z.string(),
})
export type MadeWorktree = z.infer<typeof MadeWorktree>

/** What it answers on standard output. */
export const WorktreeAnswer = z.union([
  z.object({ done: z.unknown() }),
  z.object({ refused: z.string() }),
])
export type WorktreeAnswer = z.infer<typeof WorktreeAnswer>
