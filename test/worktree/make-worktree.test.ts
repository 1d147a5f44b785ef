import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { changesIn } from "../../src/worktree/changes.ts"
import { undoWorktree } from "../../src/worktree/drop-worktree.ts"
import { Git } from "../../src/worktree/git.ts"
import { makeWorktree } from "../../src/worktree/make-worktree.ts"
import { Repository } from "../support/repository.ts"
import { git, isRoot, make, refused, take, worked } from "../support/worked-tree.ts"

describe("a worktree for a session", () => {
  test("is made from the last commit, says what it lacks, and git does not see it", async () => {
    using repository = Repository.withCommit()
    repository.write("sum.js", "changed\n")
    repository.write("other.js", "new\n")

    const { worktree, cwd, note } = await make(repository.path)

    expect(cwd).toBe(join(repository.path, ".cc-executor/worktrees/fix"))
    expect(repository.read("sum.js", cwd)).toBe("one\ntwo\nthree\n")
    expect(existsSync(join(cwd, "other.js"))).toBe(false)
    expect(worktree).toMatchObject({ branch: "cc-executor/fix", onto: "main" })
    expect(note).toMatch(/on the new branch cc-executor\/fix, .*not there: changes in 2 files\.$/)
    expect(repository.git("status", "--porcelain")).toBe("M sum.js\n?? other.js")
  })

  test("begins in the same directory as its start, if the last commit has it", async () => {
    using repository = Repository.withCommit()
    repository.write("packages/a/index.js", "a\n")
    repository.commit("Add a package")
    mkdirSync(join(repository.path, "packages/b"))

    const { cwd, worktree } = await make(join(repository.path, "packages/a"))

    expect(cwd).toBe(join(worktree.path, "packages/a"))
    expect(await refused(make(join(repository.path, "packages/b"), "b"))).toMatch(
      /packages\/b is not in the last commit/,
    )
  })

  test("is put beside the others when it is started from within one", async () => {
    using repository = Repository.withCommit()
    const first = await make(repository.path, "first")
    repository.write("more.js", "more\n", first.cwd)
    const commit = repository.commit("More", first.cwd)

    const { worktree } = await make(first.cwd, "second")

    expect(worktree.path).toBe(join(repository.path, ".cc-executor/worktrees/second"))
    expect(worktree).toMatchObject({ base: first.cwd, onto: "cc-executor/first", commit })
  })

  test("is refused where git cannot make one, in words", async () => {
    using repository = Repository.withCommit()
    using empty = new Repository()
    using bare = new Repository(["--bare"])
    using parent = Repository.withCommit()
    const add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"]
    parent.git(...add, repository.path, "lib")
    parent.commit("Add a submodule")
    symlinkSync("/tmp", join(repository.path, ".cc-executor"))

    expect(await refused(make("/"))).toMatch(/: \/ is not in a git repository/)
    expect(await refused(make("/not/there"))).toMatch(/does not exist/)
    expect(await refused(make(empty.path))).toMatch(/has no commit yet/)
    expect(await refused(make(bare.path))).toMatch(/bare repository/)
    expect(await refused(make(join(parent.path, ".git")))).toMatch(
      /bare repository, or in the .git/,
    )
    expect(await refused(make(parent.path))).toMatch(/has submodules/)
    expect(await refused(make(join(parent.path, "lib")))).toMatch(/is a submodule/)
    expect(await refused(make(repository.path))).toMatch(/.cc-executor is not a directory/)
    expect(repository.git("branch", "--list", "cc-executor/*")).toBe("")
  })

  test("leaves nothing when the checkout fails", async () => {
    using repository = Repository.withCommit()
    repository.write(".gitattributes", "* filter=broken\n")
    repository.commit("Use a filter")
    repository.git("config", "filter.broken.smudge", "false")
    repository.git("config", "filter.broken.required", "true")

    expect(await refused(make(repository.path))).toMatch(/could not be made.*smudge filter/s)

    expect(existsSync(join(repository.path, ".cc-executor"))).toBe(false)
    expect(repository.git("branch", "--list", "cc-executor/*")).toBe("")
  })

  test("works as it does everywhere in a sparse checkout", async () => {
    using repository = Repository.withCommit()
    repository.write("seen/a.txt", "a\n")
    repository.write("unseen/b.txt", "b\n")
    repository.commit("Add two directories")
    repository.git("sparse-checkout", "set", "seen")

    const { worktree } = await make(repository.path)
    repository.write("seen/a.txt", "changed\n", worktree.path)

    expect(await changesIn(git, worktree)).toMatchObject({ files: 1, uncommitted: 1 })
    await take(worktree)
    expect(repository.read("seen/a.txt")).toBe("changed\n")
    expect(repository.git("status", "--porcelain")).toBe("M seen/a.txt")
  })

  test("is not made a second time under one name, unless nothing came of the first", async () => {
    using repository = Repository.withCommit()
    const { worktree } = await make(repository.path)

    expect(await refused(make(repository.path, "fix", [worktree.path]))).toMatch(
      /by a session that runs/,
    )
    expect((await make(repository.path)).worktree).toEqual(worktree)

    repository.write("sum.js", "changed\n", worktree.path)
    expect(await refused(make(repository.path))).toMatch(/fix is in use: .* has work in it/)
    repository.git("-C", worktree.path, "checkout", "--quiet", "sum.js")
    repository.write(".env", "SECRET=1\n", worktree.path)
    expect(await refused(make(repository.path))).toMatch(/has work in it/)
  })

  test("is taken back after a start that failed, with all that was made for it", async () => {
    using repository = Repository.withCommit()
    const before = repository.state()
    const { worktree } = await make(repository.path)

    await undoWorktree(git, worktree)

    expect(repository.state()).toBe(before)
    expect(existsSync(join(repository.path, ".cc-executor"))).toBe(false)
    expect(repository.git("branch", "--list", "cc-executor/*")).toBe("")
    expect(repository.git("worktree", "list", "--porcelain").split("\n\n")).toHaveLength(1)
  })
})

describe("what git runs by itself", () => {
  test("is neither a hook nor a watcher that the repository brings", async () => {
    using repository = Repository.withCommit()
    const ran = join(repository.path, "ran")
    for (const hook of [
      "post-checkout",
      "post-merge",
      "reference-transaction",
      "post-index-change",
    ]) {
      repository.write(`.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${ran}\n`)
      chmodSync(join(repository.path, ".git/hooks", hook), 0o755)
    }
    const watcher = join(repository.path, ".git/hooks/post-checkout")
    repository.git("config", "core.fsmonitor", watcher)

    const worktree = await worked(repository)
    repository.git("-c", "core.fsmonitor=false", "config", "--unset", "core.fsmonitor")
    Bun.spawnSync(["rm", "-f", ran])
    repository.git("config", "core.fsmonitor", watcher)
    await changesIn(git, worktree)
    await take(worktree)
    await make(repository.path, "again")

    expect(existsSync(ran)).toBe(false)
  })

  test("is told by no variable of the caller's where to work", async () => {
    using repository = Repository.withCommit()
    using other = Repository.withCommit()
    const variables = {
      GIT_DIR: join(other.path, ".git"),
      GIT_WORK_TREE: other.path,
      GIT_INDEX_FILE: join(other.path, "index"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.bare",
      GIT_CONFIG_VALUE_0: "true",
    }
    const misled = new Git("git", { ...process.env, ...variables }, isRoot)
    const before = other.state()

    const { worktree } = await makeWorktree(misled, { name: "fix", cwd: repository.path, busy: [] })

    expect(worktree.base).toBe(repository.path)
    expect(other.state()).toBe(before)
  })
})
