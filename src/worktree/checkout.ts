import { existsSync, statSync } from "node:fs"
import { type Git, Refusal, wordsOf } from "./git.ts"

/** Where somebody wants to work, as git sees it. */
export type Checkout = {
  top: string
  /** From the top down to where somebody is; empty at the top. */
  prefix: string
  /** The directory that worktrees are put below. */
  root: string
  onto: string | null
  commit: string
}

/** Refuses where no worktree can be made. */
export async function checkoutAt(git: Git, cwd: string): Promise<Checkout> {
  if (!existsSync(cwd)) throw new Refusal(`The working directory ${cwd} does not exist.`)
  const asked = ["rev-parse", "--is-inside-work-tree"]
  const inside = await git.run(cwd, asked, { reads: true })
  if (inside.exitCode !== 0)
    throw new Refusal(whyNoCheckout(cwd, inside.err, wordsOf(inside, asked)))
  if (inside.out.trim() !== "true") {
    throw new Refusal(
      `${cwd} is in a bare repository, or in the .git directory of one: there is no checkout to ` +
        "start from. Use a directory that has one.",
    )
  }
  const fact = (...args: string[]) => git.text(cwd, ["rev-parse", ...args], { reads: true })
  const top = await fact("--show-toplevel")
  if ((await fact("--show-superproject-working-tree")) !== "") {
    throw new Refusal(`${top} is a submodule: git worktrees do not work there.`)
  }
  const head = await git.run(cwd, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  if (head.exitCode !== 0) {
    throw new Refusal(`${top} has no commit yet: commit something first, then try again.`)
  }
  const commit = head.out.trim()
  if (await git.succeeds(cwd, ["cat-file", "-e", `${commit}:.gitmodules`])) {
    throw new Refusal(
      `${top} has submodules, which git leaves empty in a worktree: start the session without ` +
        "one, or in a clone.",
    )
  }
  const prefix = (await fact("--show-prefix")).replace(/\/$/, "")
  if (prefix !== "" && !(await git.succeeds(cwd, ["cat-file", "-e", `${commit}:${prefix}`]))) {
    throw new Refusal(
      `${prefix} is not in the last commit of ${top}, so a worktree would not have it: commit it ` +
        "first, or start from another directory.",
    )
  }
  const symbolic = await git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
  const onto = symbolic.exitCode === 0 ? symbolic.out.trim() : null
  return { top, prefix, root: await rootFor(git, cwd, top), onto, commit }
}

/** Never in a worktree, with which it would be removed; unless there is nothing else. */
async function rootFor(git: Git, cwd: string, top: string): Promise<string> {
  const listed = await git.text(cwd, ["worktree", "list", "--porcelain"], { reads: true })
  const [first = ""] = listed.split("\n\n")
  const main = /^worktree (.*)$/m.exec(first)?.[1] ?? top
  if (main === top || /^bare$/m.test(first)) return top
  const shown = await git.run(main, ["rev-parse", "--show-toplevel"], { reads: true })
  return shown.exitCode === 0 && shown.out.trim() === main ? main : top
}

function whyNoCheckout(cwd: string, said: string, words: string): string {
  if (/not a git repository/i.test(said)) {
    return `${cwd} is not in a git repository: start the session without a worktree, or elsewhere.`
  }
  const [, foreign] = /dubious ownership in repository at '(.*)'/.exec(said) ?? []
  if (foreign === undefined) return words
  const owner = statSync(foreign, { throwIfNoEntry: false })?.uid ?? "another user"
  return (
    `The repository ${foreign} belongs to user ${owner}, and git would run as user ` +
    `${process.getuid?.() ?? 0}, with what the owner has configured there. Run the service as ` +
    "the owner (see --run-as), or start the session without a worktree."
  )
}
