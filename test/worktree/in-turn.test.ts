import { expect, test } from "bun:test"
import { inTurn } from "../../src/worktree/in-turn.ts"
import { makeWorktree } from "../../src/worktree/make-worktree.ts"
import { Repository } from "../support/repository.ts"
import { git } from "../support/worked-tree.ts"

test("many worktrees can be made at once", async () => {
  using repository = Repository.withCommit()
  const { path: cwd } = repository
  const names = Array.from({ length: 12 }, (_, index) => `fix-${index}`)

  const made = await Promise.all(
    names.map((name) => inTurn(git, cwd, () => makeWorktree(git, { name, cwd, busy: [] }))),
  )

  expect(made.map(({ worktree }) => worktree.name)).toEqual(names)
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(13)
})

test("where there is no repository, whoever is asked says so", () => {
  const asked = inTurn(git, "/", () => makeWorktree(git, { name: "fix", cwd: "/", busy: [] }))
  expect(asked).rejects.toThrow("/ is not in a git repository")
})
