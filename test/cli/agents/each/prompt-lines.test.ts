import { describe, expect, test } from "bun:test"
import { prefixOf, promptLines } from "../../../../src/cli/agents/each/prompt-lines.ts"
import { WorktreeName } from "../../../../src/execution/worktree.ts"

describe("the lines of a file of prompts", () => {
  test("are its prompts, but for blank lines and comments", () => {
    const lines = promptLines("# todo\r\n\n  Fix the login.\r\n#no\nSay # aloud\n", "todo")
    expect(lines.map(({ prompt }) => prompt)).toEqual(["Fix the login.", "Say # aloud"])
  })

  test("have the same worktrees wherever they stand, and each its own", () => {
    const [first, second] = promptLines("Fix it\nTest it", "a")
    const [, , moved] = promptLines("New\nTest it\nFix it", "a")
    expect(moved).toEqual(first)
    expect(first?.worktree).toMatch(/^a-fix-it-[0-9a-f]{4}$/)
    expect(second?.worktree).not.toBe(first?.worktree)
    const same = promptLines("Fix it\nFix it", "a").map(({ worktree }) => worktree)
    expect(same).toEqual([first?.worktree ?? "", `${first?.worktree}-2`])
  })

  test("have names that git takes, whatever they say", () => {
    const text = ["../../etc", "…", "x".repeat(500), "--force", "a.lock", "Überall ö"].join("\n")
    for (const { worktree } of promptLines(text, prefixOf("/a/Übel ..LOCK.txt"))) {
      expect(WorktreeName.safeParse(worktree)).toMatchObject({ success: true })
    }
    expect([prefixOf("-"), prefixOf("…"), prefixOf("../todo.txt")]).toEqual([
      "each",
      "each",
      "todo",
    ])
  })
})
