import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gitGround } from "../../../src/workflow/run/places/git-ground.ts"
import { openRunnerFolder } from "../../../src/workflow/run/places/runner-folder.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const env = { PATH: process.env["PATH"], HOME: "/nonexistent" }
const work = {
  file: "work.md",
  ownText: Buffer.from("the work"),
  isSame: () => false,
  ledger: "work.md.intoto.jsonl",
}

test("a snapshot has what was changed in the moment in which git has looked", async () => {
  using own = temporaryFolder()
  const directory = join(own.path, "project")
  const file = join(directory, "a.txt")
  const git = (...args: string[]) => {
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    const { exitCode } = Bun.spawnSync(["git", ...who, ...args], { cwd: directory, env })
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${exitCode}`)
  }
  const then = new Date("2026-11-19T08:00:00Z")
  mkdirSync(directory)
  writeFileSync(file, "committed\n")
  git("init", "-q")
  git("config", "core.trustctime", "false")
  git("add", "a.txt")
  git("commit", "-q", "-m", "one")
  utimesSync(file, then, then)
  git("update-index", "--refresh")
  writeFileSync(file, "COMMITTED\n")
  for (const path of [file, join(directory, ".git/index")]) utimesSync(path, then, then)

  await using folder = await openRunnerFolder(join(own.path, "places"), directory, env)
  const snapshot = await gitGround(directory, folder, env).snapshot(work, folder)
  const place = await snapshot.place(folder.fresh("base"))

  expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("COMMITTED\n")
})
