import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { gitGround } from "../../../src/workflow/run/places/git-ground.ts"
import { plainGround } from "../../../src/workflow/run/places/plain-ground.ts"
import {
  openRunnerFolder,
  type RunnerFolder,
  sweepRunnerFolders,
} from "../../../src/workflow/run/places/runner-folder.ts"
import { openTaskBranch } from "../../../src/workflow/run/places/task-branch.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const env = { PATH: process.env["PATH"], HOME: "/nonexistent" }
const work = {
  file: "work.md",
  ownText: Buffer.from("the work"),
  isSame: (text: string) => text === "the work, rendered",
  ledger: "work.md.intoto.jsonl",
}

let own: ReturnType<typeof temporaryFolder>
let directory: string
let places: string

beforeEach(() => {
  own = temporaryFolder()
  directory = join(own.path, "project")
  places = join(own.path, "places")
  mkdirSync(directory)
  write("a.txt", "committed\n")
  write(work.file, "the work, rendered")
})
afterEach(() => own[Symbol.dispose]())

function write(path: string, text: string, below = directory): void {
  mkdirSync(dirname(join(below, path)), { recursive: true })
  writeFileSync(join(below, path), text)
}

function git(...args: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b"]
  const { stdout, exitCode } = Bun.spawnSync(["git", ...who, ...args], { cwd: directory, env })
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${exitCode}`)
  return stdout.toString().trim()
}

function repository(): void {
  git("init", "-q")
  git("add", "a.txt")
  git("commit", "-q", "-m", "one")
}

const openFolder = (inRepository: boolean): Promise<RunnerFolder> =>
  openRunnerFolder(places, inRepository ? directory : null, env)

const worktrees = () => git("worktree", "list").split("\n").length

describe("a place in a repository", () => {
  test("has what the directory has, and not what was rendered", async () => {
    repository()
    write("a.txt", "changed\n")
    write("new.txt", "new\n")
    write("ignored.txt", "x")
    write(".gitignore", "ignored.txt\n")
    write(work.ledger, "{}\n")
    await using folder = await openFolder(true)

    const snapshot = await gitGround(directory, folder, env).snapshot(work, folder)
    const { path } = await snapshot.place(folder.fresh("base"))
    write(work.file, "the work, rendered differently")
    const again = await gitGround(directory, folder, env).snapshot(work, folder)

    const names = readdirSync(path).toSorted()
    expect(names).toEqual([".git", ".gitignore", "a.txt", "new.txt", "work.md"])
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("changed\n")
    expect(readFileSync(join(path, work.file), "utf8")).toBe("the work")
    expect(again.tree).toBe(snapshot.tree)
    expect(git("status", "--porcelain")).toContain("M a.txt")
    expect(git("diff", "--cached")).toBe("")
  })

  test("shows what was written there, whatever its own git says", async () => {
    repository()
    write("gone.txt", "x")
    await using folder = await openFolder(true)
    const snapshot = await gitGround(directory, folder, env).snapshot(work, folder)
    const place = await snapshot.place(folder.fresh("act"))

    write("a.txt", "by the act\n", place.path)
    write("tests/test_a.py", "def test(): pass", place.path)
    write(".gitignore", "*\n", place.path)
    rmSync(join(place.path, "gone.txt"))
    rmSync(join(place.path, ".git"))
    const changes = await place.changes()

    expect(changes.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      { path: ".gitignore", kind: "written" },
      { path: "a.txt", kind: "written" },
      { path: "gone.txt", kind: "removed" },
      { path: "tests/test_a.py", kind: "written" },
    ])
  })

  test("runs no hook, and knows nothing of variables of git", async () => {
    repository()
    write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
    chmodSync(join(directory, ".git/hooks/post-checkout"), 0o755)
    git("config", "commit.gpgSign", "true")
    git("config", "core.fsmonitor", "false; touch hooked")
    const hostile = { ...env, GIT_DIR: "/nonexistent", GIT_INDEX_FILE: "/nonexistent" }
    await using folder = await openFolder(true)

    const snapshot = await gitGround(directory, folder, hostile).snapshot(work, folder)
    const { path } = await snapshot.place(folder.fresh("base"))

    expect(existsSync(join(path, "hooked"))).toBe(false)
    expect(existsSync(join(directory, "hooked"))).toBe(false)
  })

  test("leaves no state of the ledger in the repository", async () => {
    repository()
    write(work.ledger, "one trial\n")
    await using folder = await openFolder(true)
    await gitGround(directory, folder, env).snapshot(work, folder)

    const blob = git("hash-object", work.ledger)
    expect(git("cat-file", "--batch-all-objects", "--batch-check")).not.toContain(blob)
  })

  test("is gone with its part of the runner's folder, and leaves the others", async () => {
    repository()
    await using folder = await openFolder(true)
    const [one, other] = [folder.part(), folder.part()]
    const ground = gitGround(directory, folder, env)
    const snapshot = await ground.snapshot(work, one)
    const place = await snapshot.place(one.fresh("act"))
    const kept = await (await ground.snapshot(work, other)).place(other.fresh("act"))
    write("in/a-cache/file", "x", place.path)
    expect(await place.changes()).toHaveLength(1)
    Bun.spawnSync(["chmod", "-R", "a-w", join(place.path, "in")])

    await one[Symbol.asyncDispose]()

    expect(worktrees()).toBe(2)
    expect(existsSync(place.path)).toBe(false)
    expect(readdirSync(folder.path)).toContain(basename(kept.path))
    expect(await kept.changes()).toEqual([])
  })

  test("is gone with its runner, and when that was killed, with the next one", async () => {
    repository()
    const folder = await openFolder(true)
    const snapshot = await gitGround(directory, folder, env).snapshot(work, folder)
    await snapshot.place(folder.fresh("base"))
    expect(worktrees()).toBe(2)

    await sweepRunnerFolders(places, env)
    expect(worktrees()).toBe(2)
    await folder[Symbol.asyncDispose]()
    expect(worktrees()).toBe(1)

    const killed = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, "../../fixtures/killed-runner.ts"),
        places,
        directory,
      ],
      { env: { ...env, HOME: own.path }, stdout: "pipe" },
    )
    await killed.exited
    expect(worktrees()).toBe(2)
    await sweepRunnerFolders(places, env)
    expect(worktrees()).toBe(1)
    expect(readdirSync(places)).toEqual([])
  })
})

describe("a place without git", () => {
  test("is a copy, whose changes can be taken over", async () => {
    await using folder = await openFolder(false)
    const ground = plainGround(directory)
    const snapshot = await ground.snapshot(work, folder)
    const place = await snapshot.place(folder.fresh("act"))

    write("a.txt", "by the act\n", place.path)
    write("b/c.txt", "new\n", place.path)
    const changes = await place.changes()
    ground.takeOver(place.path, changes, snapshot)

    expect(changes.map(({ path }) => path).toSorted()).toEqual(["a.txt", "b/c.txt"])
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("by the act\n")
    expect(readFileSync(join(directory, "b/c.txt"), "utf8")).toBe("new\n")
    expect(readFileSync(join(directory, work.file), "utf8")).toBe("the work, rendered")
  })

  test("is not taken over where somebody else has written meanwhile", async () => {
    await using folder = await openFolder(false)
    const ground = plainGround(directory)
    const snapshot = await ground.snapshot(work, folder)
    const place = await snapshot.place(folder.fresh("act"))
    write("a.txt", "by the act\n", place.path)
    write("a.txt", "by a person\n")

    const changes = await place.changes()

    expect(() => ground.takeOver(place.path, changes, snapshot)).toThrow("has changed a.txt")
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("by a person\n")
  })
})

describe("the branch of a task list", () => {
  async function open(folder: RunnerFolder) {
    const ground = gitGround(directory, folder, env)
    const now = await ground.snapshot(work, folder)
    return openTaskBranch(ground, "My tasks", now, folder, env)
  }

  async function doTask(folder: RunnerFolder, path: string, text: string) {
    const branch = await open(folder)
    const place = await branch.base.place(folder.fresh("act"))
    write(path, text, place.path)
    const tree = await branch.base.writtenIn(place.path)
    return branch.advance(await branch.commitObject(tree, `Do ${path}`))
  }

  test("has a commit for each task, and takes over what people do meanwhile", async () => {
    repository()
    await using folder = await openFolder(true)

    await doTask(folder, "one.txt", "1")
    write("mine.txt", "by a person")
    await doTask(folder, "two.txt", "2")
    write("mine.txt", "by a person, again")
    const { base } = await open(folder)
    const place = await base.place(folder.fresh("look"))

    const names = readdirSync(place.path).filter((name) => name.endsWith(".txt"))
    expect(names.toSorted()).toEqual(["a.txt", "mine.txt", "one.txt", "two.txt"])
    expect(readFileSync(join(place.path, "mine.txt"), "utf8")).toBe("by a person, again")
    expect(git("log", "--format=%s", "cc-executor/My-tasks").split("\n").slice(0, 1)).toEqual([
      "Do two.txt",
    ])
    expect(existsSync(join(directory, "one.txt"))).toBe(false)
  })

  test("begins anew once it was merged", async () => {
    repository()
    await using folder = await openFolder(true)
    git("add", "-A")
    git("commit", "-q", "-m", "all")
    await doTask(folder, "one.txt", "1")
    write(work.file, "the work")
    git("checkout", "-q", "--", work.file)
    git("merge", "-q", "cc-executor/My-tasks", "-X", "theirs")

    const { base } = await open(folder)

    expect(git("ls-tree", "--name-only", base.commit).split("\n")).toContain("one.txt")
  })

  test("is left alone where somebody has checked it out", async () => {
    repository()
    await using folder = await openFolder(true)
    await doTask(folder, "one.txt", "1")
    git("checkout", "-q", "-f", "cc-executor/My-tasks")

    expect(open(folder)).rejects.toThrow("is checked out in")
  })

  test("is not merged with what conflicts with it", async () => {
    repository()
    await using folder = await openFolder(true)
    await doTask(folder, "a.txt", "by the act\n")
    write("a.txt", "by a person\n")

    expect(open(folder)).rejects.toThrow("conflicts with the branch cc-executor/My-tasks in a.txt")
  })
})
