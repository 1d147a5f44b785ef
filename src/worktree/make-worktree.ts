import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Worktree } from "../execution/worktree.ts"
import { countText } from "../lib/count-text.ts"
import { isErrno, messageOf } from "../lib/errno.ts"
import type { MadeWorktree } from "../protocol/worktree.ts"
import { type Checkout, checkoutAt } from "./checkout.ts"
import { type Git, Refusal, wordsOf } from "./git.ts"
import { removeWorktree } from "./remove-worktree.ts"
import { holdingsOf, registeredAt, statusOf } from "./tree-state.ts"

const ownDirectory = ".cc-executor"

type Asked = { name: string; cwd: string; busy: readonly string[] }

/** Makes a worktree for a session. What is there already is used only if nothing is in it. */
export async function makeWorktree(git: Git, { name, cwd, busy }: Asked): Promise<MadeWorktree> {
  const checkout = await checkoutAt(git, cwd)
  const { top: base, onto, commit, prefix } = checkout
  const path = join(placeBelow(checkout.root), name)
  const worktree = { name, path, branch: `cc-executor/${name}`, base, onto, commit }
  if (busy.includes(path)) {
    throw new Refusal(`The worktree ${name} is in use by a session that runs: use another name.`)
  }
  await makeWay(git, worktree)
  const add = ["worktree", "add", "--quiet", "--no-track", "-b", worktree.branch, path, commit]
  const added = await git.run(base, add)
  if (added.exitCode !== 0) {
    await removeWorktree(git, worktree).catch(() => undefined) // why it failed is what counts
    throw new Refusal(`The worktree ${name} could not be made. ${wordsOf(added, add)}.`)
  }
  placeBelow(checkout.root) // whoever has dropped another one meanwhile may have taken it away
  const { uncommitted } = await statusOf(git, base)
  return {
    worktree,
    cwd: prefix === "" ? path : join(path, prefix),
    note: noteOf(worktree, checkout, uncommitted),
  }
}

/** The directory of all worktrees, which git ignores by itself. */
function placeBelow(root: string): string {
  const own = join(root, ownDirectory)
  const place = join(own, "worktrees")
  for (const directory of [own, place]) {
    try {
      mkdirSync(directory)
    } catch (error) {
      if (!isErrno(error, "EEXIST")) {
        throw new Refusal(`${directory} cannot be made: ${messageOf(error)}.`)
      }
    }
    if (lstatSync(directory).isDirectory()) continue
    throw new Refusal(`${directory} is not a directory, so worktrees cannot be put there.`)
  }
  try {
    writeFileSync(join(own, ".gitignore"), "*\n", { flag: "wx" }) // through no link
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error
  }
  return realpathSync(place)
}

/** Takes away what an earlier start has left, and refuses where that would take away work. */
async function makeWay(git: Git, worktree: Worktree): Promise<void> {
  const { base, path, branch, name } = worktree
  const registered = await registeredAt(git, base, path)
  const holdings = await holdingsOf(git, worktree)
  if (registered === null && holdings.tip === null && !existsSync(path)) return
  if (registered === null && existsSync(path)) {
    throw new Refusal(`${path} is there already, and is no worktree of ${base}: use another name.`)
  }
  const { uncommitted, ignored, commits } = holdings
  const isEmpty = uncommitted + ignored + commits === 0
  if (isEmpty || registered?.isUnfinished === true) return removeWorktree(git, worktree)
  throw new Refusal(
    `The worktree ${name} is in use: ${path}, or its branch ${branch}, has work in it. Use ` +
      "another name; or take or drop that one: `cc-executor agent take ID`, `agent drop ID`, " +
      `or \`git worktree remove ${path}\` and \`git branch -D ${branch}\`.`,
  )
}

function noteOf({ path, branch }: Worktree, checkout: Checkout, uncommitted: number): string {
  const { commit, onto, top } = checkout
  const from = `${commit.slice(0, 10)}${onto === null ? "" : ` (${onto})`}`
  const made = `It works in ${path}, on the new branch ${branch}, from ${from}.`
  if (uncommitted === 0) return made
  const files = countText(uncommitted, "file")
  return `${made} What is not committed in ${top} is not there: changes in ${files}.`
}
