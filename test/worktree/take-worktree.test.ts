import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { changesIn } from "../../src/worktree/changes.ts"
import { Repository } from "../support/repository.ts"
import { drop, git, make, refused, take, worked } from "../support/worked-tree.ts"

describe("the changes in a worktree", () => {
  test("are counted, committed or not, and nothing is touched", async () => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)
    repository.write("skipped.log", "x\n", worktree.path)
    repository.write(".git/info/exclude", "*.log\n")
    const before = repository.git("-C", worktree.path, "status", "--porcelain")

    const changes = await changesIn(git, worktree)

    expect(changes).toMatchObject({
      exists: true,
      commits: 1,
      subjects: ["Say two with a digit"],
      files: 2,
      added: 4,
      removed: 1,
      uncommitted: 2,
      untracked: 1,
      ignored: 1,
    })
    expect(changes.changed.map(({ path }) => path)).toEqual(["new/file.txt", "sum.js"])
    expect(repository.git("-C", worktree.path, "status", "--porcelain")).toBe(before)
  })
})

describe("taking a worktree", () => {
  test("merges its commits, adds the rest to the files alone, and removes it", async () => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)
    repository.write("mine.js", "staged\n")
    repository.git("add", "mine.js")

    const taken = await take(worktree)

    expect(taken).toMatchObject({ into: "main", commits: 1, files: 2, uncommitted: 2 })
    expect(repository.git("log", "--format=%s")).toBe("Say two with a digit\nBegin")
    expect(repository.read("sum.js")).toBe("one\n2\nthree\nfour\n")
    const status = repository.git("status", "--porcelain", "-z").split("\0").toSorted()
    expect(status).toEqual(["", " M sum.js", "?? new/", "A  mine.js"])
    expect(existsSync(join(repository.path, ".cc-executor"))).toBe(false)
    expect(repository.git("branch", "--list", "cc-executor/*")).toBe("")
  })

  test("makes a merge commit where the branch went on, and keeps bytes as they are", async () => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)
    const bytes = Buffer.from([0, 255, 13, 10, 128])
    await Bun.write(join(worktree.path, "image.bin"), bytes)
    await Bun.write(join(worktree.path, "latin.txt"), Buffer.from([228, 10]))
    repository.write("elsewhere.js", "x\n")
    repository.commit("Go on")

    await take(worktree)

    expect(repository.git("log", "--merges", "--format=%s")).toMatch(
      /^Merge branch 'cc-executor\/fix'/,
    )
    expect(await Bun.file(join(repository.path, "image.bin")).bytes()).toEqual(
      new Uint8Array(bytes),
    )
    expect(await Bun.file(join(repository.path, "latin.txt")).bytes()).toEqual(
      new Uint8Array([228, 10]),
    )
  })

  test.each([
    {
      why: "the branch has changed the same lines",
      before: (repository: Repository) => {
        repository.write("sum.js", "one\nzwei\nthree\n")
        repository.commit("Say two in German")
      },
      told: /conflicts with what main has meanwhile, in sum\.js\. Nothing was changed/,
    },
    {
      why: "somebody has changed a file there",
      before: (repository: Repository) => repository.write("sum.js", "one\ntwo\nthree\nmine\n"),
      told: /changes of its own that are not committed, in sum\.js/,
    },
    {
      why: "a file is there that git does not know",
      before: (repository: Repository) => repository.write("new/file.txt", "mine\n"),
      told: /not committed, in new\/file\.txt/,
    },
    {
      why: "another branch is checked out",
      before: (repository: Repository) => repository.git("checkout", "--quiet", "-b", "other"),
      told: /started from the branch main, but .* has the branch other checked out/,
    },
    {
      why: "a merge is under way",
      before: (repository: Repository) => {
        repository.git("checkout", "--quiet", "-b", "other")
        repository.write("elsewhere.js", "x\n")
        repository.commit("Elsewhere")
        repository.git("checkout", "--quiet", "main")
        repository.git("merge", "--quiet", "--no-ff", "--no-commit", "other")
      },
      told: /You have not concluded your merge/,
    },
  ])("changes nothing where $why", async ({ before, told }) => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)
    before(repository)
    const state = repository.state()
    const inside = repository.git("-C", worktree.path, "status", "--porcelain")

    expect(await refused(take(worktree))).toMatch(told)

    expect(repository.state()).toBe(state)
    expect(repository.git("-C", worktree.path, "status", "--porcelain")).toBe(inside)
  })

  test("refuses another repository within, of which nothing would come along", async () => {
    using repository = Repository.withCommit()
    const { worktree } = await make(repository.path)
    repository.git("init", "--quiet", join(worktree.path, "inner"))
    repository.write("inner/file", "x\n", worktree.path)
    repository.git("-C", join(worktree.path, "inner"), "add", "file")
    const identity = ["-c", "user.name=x", "-c", "user.email=x@example.net"]
    repository.git("-C", join(worktree.path, "inner"), ...identity, "commit", "-qm", "x")

    expect(await refused(take(worktree))).toMatch(/inner is a git repository of its own/)
  })
})

describe("dropping a worktree", () => {
  test("is refused while it has work that is nowhere else, and says what", async () => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)

    expect(await refused(drop(worktree))).toMatch(
      /nowhere else: 1 commit, and uncommitted changes in 2 files\. .*agent drop --force ID/,
    )
    expect(existsSync(worktree.path)).toBe(true)
  })

  test("with force leaves a commit from which all of it can be had back", async () => {
    using repository = Repository.withCommit()
    const worktree = await worked(repository)

    const { kept, commits, uncommitted } = await drop(worktree, true)

    expect({ commits, uncommitted }).toEqual({ commits: 1, uncommitted: 2 })
    expect(existsSync(worktree.path)).toBe(false)
    expect(repository.git("show", `${kept}:sum.js`)).toBe("one\n2\nthree\nfour")
    expect(repository.git("show", `${kept}:new/file.txt`)).toBe("a\nb")
    expect(repository.git("log", "--format=%s", `${kept}~1`)).toMatch(/^Say two with a digit/)
  })

  test("is refused for commits that were left behind by a checkout of something else", async () => {
    using repository = Repository.withCommit()
    const { worktree } = await make(repository.path)
    repository.git("-C", worktree.path, "checkout", "--quiet", "--detach")
    repository.write("sum.js", "changed\n", worktree.path)
    repository.commit("On no branch", worktree.path)

    expect(await refused(drop(worktree))).toMatch(/nowhere else: 1 commit/)
  })

  test("needs no force where nothing is in it, or it is gone already", async () => {
    using repository = Repository.withCommit()
    const { worktree } = await make(repository.path)
    Bun.spawnSync(["rm", "-rf", worktree.path])

    expect(await changesIn(git, worktree)).toMatchObject({ exists: false })
    expect(await drop(worktree)).toEqual({ commits: 0, uncommitted: 0, ignored: 0, kept: null })
    expect(await refused(drop(worktree))).toMatch(/no worktree .* any more/)
    expect(repository.git("branch", "--list", "cc-executor/*")).toBe("")
  })
})
