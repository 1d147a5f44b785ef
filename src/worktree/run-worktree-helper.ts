import { messageOf } from "../lib/errno.ts"
import { tryParseJson } from "../lib/parse-json.ts"
import { type WorktreeAnswer, WorktreeRequest } from "../protocol/worktree.ts"
import { changesIn } from "./changes.ts"
import { dropWorktree, undoWorktree } from "./drop-worktree.ts"
import { Git, Refusal } from "./git.ts"
import { inTurn } from "./in-turn.ts"
import { makeWorktree } from "./make-worktree.ts"
import { takeWorktree } from "./take-worktree.ts"

/**
 * A process of its own, as the user that sessions run as: what a repository can make git do, it
 * can do to that user alone. Does one thing, and answers on standard output.
 */
export async function runWorktreeHelper([program = "", asked = ""]: readonly string[]) {
  const request = WorktreeRequest.parse(tryParseJson(asked))
  const git = new Git(program, process.env, process.getuid?.() === 0)
  const answer = await carryOut(git, request)
  await Bun.write(Bun.stdout, `${JSON.stringify(answer)}\n`)
  return 0
}

async function carryOut(git: Git, request: WorktreeRequest): Promise<WorktreeAnswer> {
  try {
    return { done: await done(git, request) }
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    return { refused: `It failed: ${messageOf(error)}.` }
  }
}

function done(git: Git, request: WorktreeRequest): Promise<unknown> {
  switch (request.do) {
    case "make":
      return inTurn(git, request.cwd, () => makeWorktree(git, request))
    case "undo":
      return inTurn(git, request.worktree.base, () => undoWorktree(git, request.worktree))
    case "changes":
      return changesIn(git, request.worktree)
    case "take":
      return inTurn(git, request.worktree.base, () =>
        takeWorktree(git, request.worktree, request.id),
      )
    case "drop":
      return inTurn(git, request.worktree.base, () => dropWorktree(git, request))
  }
}
