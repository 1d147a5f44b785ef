import { shortId } from "../../execution/id.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { Changes } from "../../protocol/worktree.ts"
import { nextCommand } from "../connect/next-command.ts"
import type { Context } from "../context.ts"

type World = Pick<Context, "serviceOptions">

/** `2 commits, 3 files, +10 −2, 1 new file not committed`, in one line. */
export function changesSummary(changes: Changes): string {
  const { exists, commits, files, added, removed, uncommitted } = changes
  if (!exists) return "its worktree is gone"
  if (commits + files + uncommitted === 0) return "no changes"
  const parts = [
    ...(commits > 0 ? [countText(commits, "commit")] : []),
    ...(files > 0 ? [`${countText(files, "file")} +${added} −${removed}`] : []),
    ...(uncommitted > 0 ? [`${uncommitted} not committed`] : []),
  ]
  return parts.join(", ")
}

/** All of it, for a person. */
export function changesText(context: World, id: string, changes: Changes): string {
  const { worktree, exists, subjects, commits, changed, files, ignored } = changes
  const { path, branch, base, onto, commit } = worktree
  const facts = [
    ["Worktree", path],
    ["Branch", branch],
    ["From", `${onto ?? "no branch"} of ${base}, at ${commit.slice(0, 10)}`],
    ["Changes", changesSummary(changes)],
    ...(ignored > 0 ? [["Ignored", `${ignored} that git does not look at`]] : []),
  ]
  const head = facts.map(([name = "", text = ""]) => `${name.padEnd(10)}${onOneLine(text)}`)
  if (!exists) return head.join("\n")
  const rows = changed.map(({ path: name, added, removed }) => {
    const lines = added === null || removed === null ? "binary" : `+${added} −${removed}`
    return `  ${lines.padEnd(12)} ${onOneLine(name)}`
  })
  return [
    ...head,
    ...(subjects.length > 0 ? ["", "Commits:"] : []),
    ...subjects.map((subject) => `  ${onOneLine(subject)}`),
    ...more(commits - subjects.length),
    ...(rows.length > 0 ? ["", "Files:"] : []),
    ...rows,
    ...more(files - changed.length),
    ...(hasWork(changes) ? ["", whatToDo(context, id, changes)] : []),
  ].join("\n")
}

/** What is in a worktree when its session has ended, and what can be done about it. */
export function endOfWorktree(context: World, id: string, changes: Changes): string {
  const { worktree } = changes
  const told = `In worktree ${onOneLine(worktree.name)}: ${changesSummary(changes)}.`
  return `${told} ${whatToDo(context, id, changes)}`
}

function whatToDo(context: World, id: string, { worktree, ...changes }: Changes): string {
  const short = shortId(id)
  const drop = nextCommand(context, "agent drop", short)
  if (!hasWork(changes)) return `Remove it: ${drop}`
  const into = onOneLine(worktree.onto ?? worktree.base)
  const see = nextCommand(context, "agent changes", short)
  const take = nextCommand(context, "agent take", short)
  return `See it: ${see}; take it into ${into}: ${take}; drop it: ${drop}`
}

export function hasWork({
  commits,
  files,
  uncommitted,
}: Pick<Changes, "commits" | "files" | "uncommitted">) {
  return commits + files + uncommitted > 0
}

function more(count: number): string[] {
  return count > 0 ? [`  … ${count} more`] : []
}
