import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

const files = {
  "p.md": `---
name: p
agent: sh actor.sh
checks: [{run: sh wait.sh && test -f out.txt, red: base}]
protect: []
---
# P
`,
  // What has to wait says so, and goes on when a file is there.
  "actor.sh": 'touch out.txt "$HERE/acting"; while ! test -e "$HERE/act"; do sleep 0.05; done\n',
  "wait.sh": `test -f out.txt || exit 1
touch "$HERE/checking"; while ! test -e "$HERE/check"; do sleep 0.05; done
`,
}

/** Whoever is killed takes nothing along, and leaves nothing behind. */
test("a runner and a service that are killed cost one trial each", async () => {
  await using line = new CommandLine()
  await using folder = new WorkFolder(line, {})
  const signs = join(folder.path, "..")
  for (const [name, text] of Object.entries(files)) {
    folder.write(name, text.replaceAll("$HERE", signs))
  }
  folder.commitAll()
  const isThere = (name: string) => existsSync(join(signs, name))

  const first = folder.start("prompt", "run", "p.md")
  await until("the act has begun", () => isThere("acting"))
  first.kill("SIGKILL")
  await first.exited
  expect(folder.leftovers).not.toEqual([])
  await until("the trial is lost", async () => {
    await folder.run("render", "p.md")
    return folder.read("p.md").includes("**Failure**: 1")
  })
  expect(folder.leftovers).toEqual([])
  const running = await folder.run("ps", "-q")
  expect(running.stdout).toBe("")

  await Bun.write(join(signs, "act"), "")
  const second = folder.start("prompt", "run", "p.md")
  await until("the check runs", () => isThere("checking"))
  process.kill(line.keeperPid, "SIGKILL")
  const said = await second.stderr.text()
  expect(await second.exited).toBe(1)
  expect(said).toContain("The service")

  await Bun.write(join(signs, "check"), "")
  const third = await folder.run("prompt", "run", "p.md")
  const text = folder.read("p.md")
  const lines = folder.ledger("p.md")
  // As if it had been killed between the ledger and the file.
  folder.write("p.md", text.replace("**Success**: 1", "**Success**: 0"))
  const stale = await folder.run("verify", "p.md")
  await folder.run("render", "p.md")

  expect(third.stdout).toContain("1 of 1 passed; p is at 1:2")
  expect(lines).toHaveLength(3)
  expect(stale.exitCode).toBe(1)
  expect(folder.ledger("p.md")).toEqual(lines)
  expect(folder.read("p.md")).toBe(text)
  expect(await statusOf(folder)).toMatchObject({ verified: true, status: { lost: 2, success: 1 } })
  expect(folder.leftovers).toEqual([])
}, 90_000)

async function statusOf(folder: WorkFolder): Promise<{ status: { lost: number } }> {
  const { stdout } = await folder.run("verify", "--json", "p.md")
  return JSON.parse(stdout)
}
