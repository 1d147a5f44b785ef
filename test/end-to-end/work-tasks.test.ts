import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"
import { oldTaskList } from "../workflow/first-generation.ts"

const service = sharedService()

const actor = `cat > prompt.txt
case $WORK_ITEM in
T01) echo one > one.txt ;;
T02) cp one.txt two.txt ;;
T03) false ;;
esac
`

const list = `---
agent: sh actor.sh
---
# Three tasks

Prose with a \`touch executed-prose\` in it.

- [ ] **T01 – First**
  Goal: one
  Check: \`test -s one.txt\`
- [ ] **T02 – Second, which needs the first**
  Check: \`cmp one.txt two.txt\`
- [ ] **T03 – Fails**
  Check: \`test -f three.txt\`
- [ ] **T04 – For a person**
`

describe("a service with an allow-list", () => {
  test("runs the checks and the act of a task, of which it allows the programs", async () => {
    await using strict = await Service.start({ flags: { "allowed-commands": "bash,sh" } })
    const text = "---\nagent: sh actor.sh\n---\n- [ ] **T01 – One**\n  Check: `test -s one.txt`\n"
    const one = "cat > /dev/null; echo one > one.txt\n"
    await using folder = new WorkFolder(strict, { "actor.sh": one, "T.md": text })

    const run = await folder.run("tasks", "run", "T.md")

    expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("verified") })
  })
})

describe("a task list in a repository", () => {
  test("is worked on by one runner at a time; one that is killed holds nobody up", async () => {
    const task = "- [ ] **T01 – One**\n  Check: `test -s one.txt`\n"
    const text = `---\nagent: sh actor.sh\n---\n${task}`
    await using folder = new WorkFolder(service(), { "T.md": text })
    const acting = join(folder.path, "..", "acting")
    const act = join(folder.path, "..", "act")
    const wait = `while ! test -e "${act}"; do sleep 0.05; done`
    folder.write("actor.sh", `cat > /dev/null; touch "${acting}"; ${wait}; echo one > one.txt\n`)
    folder.commitAll()

    const first = folder.start("tasks", "run", "T.md")
    await until("the act has begun", () => existsSync(acting))
    const second = await folder.run("tasks", "run", "T.md")
    first.kill("SIGKILL")
    await first.exited
    await Bun.write(act, "")
    const third = await folder.run("tasks", "run", "T.md")
    const status = await folder.json("tasks", "status", "T.md")

    expect(second.exitCode).toBe(1)
    expect(second.stderr).toContain("T.md is under way: wait until it has ended")
    expect(third).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("verified") })
    expect(status["tasks"]).toMatchObject([{ id: "T01", state: "verified", trial: 2 }])
  })

  test("is done in order, each task on what the one before has done", async () => {
    await using folder = new WorkFolder(service(), { "actor.sh": actor, "T.md": list })
    folder.commitAll()

    const run = await folder.run("tasks", "run", "T.md")
    const branch = folder.git("log", "--format=%s", "cc-executor/T").split("\n")
    const accepted = await folder.run(
      "tasks",
      "accept",
      "T.md",
      "T04",
      "--why",
      "seen",
      "--by",
      "a",
    )
    const status = await folder.json("tasks", "status", "T.md")
    const text = folder.read("T.md")

    expect(run.exitCode).toBe(1)
    expect(run.stdout).toContain("T03 FAILED: act act: it failed: exit 1")
    expect(branch).toEqual(["T02: Second, which needs the first", "T01: First", "all"])
    expect(folder.has("one.txt")).toBe(false)
    expect(accepted.exitCode).toBe(0)
    expect(status["tasks"]).toMatchObject([
      { id: "T01", state: "verified", trial: 1 },
      { id: "T02", state: "verified", trial: 2 },
      { id: "T03", state: "failed", trial: 3 },
      { id: "T04", state: "accepted", trial: null },
    ])
    expect(text).toContain("- [x] **T02")
    expect(text).toContain("- [ ] **T03")
    expect(text).toMatch(/_Verified:_ ✅ trial 2, red \w{4}… exit 2 → green \w{4}… exit 0/)
    expect(text).toContain("_Verified:_ accepted by a: seen")
    expect(text).not.toContain("✅ accepted")
    expect((await folder.run("verify", "T.md")).exitCode).toBe(0)
    expect(folder.leftovers).toEqual([])
  })

  test("unticks what is broken by now", async () => {
    await using folder = new WorkFolder(service(), { "actor.sh": actor, "T.md": list })
    folder.commitAll()
    await folder.run("tasks", "run", "--task", "T01", "T.md")
    const sound = await folder.run("verify", "--rerun", "T.md")
    folder.git("checkout", "-q", "--", "T.md")
    folder.git("merge", "-q", "cc-executor/T")
    folder.git("rm", "-q", "one.txt")
    await folder.run("render", "T.md")
    expect(folder.read("T.md")).toContain("- [x] **T01")

    const broken = await folder.run("verify", "--rerun", "T.md")

    expect(sound.exitCode).toBe(0)
    expect(broken.exitCode).toBe(1)
    expect(broken.stdout).toContain("broken       T01: green green-1: it still fails: exit 1")
    expect(folder.read("T.md")).toContain("- [ ] **T01")
  })
})

test("without git, what a task has done is in the directory itself", async () => {
  await using folder = new WorkFolder(service(), { "actor.sh": actor, "T.md": list })

  const { stdout } = await folder.run("tasks", "run", "--task", "T01", "T.md")
  const second = await folder.run("tasks", "run", "--task", "T02", "T.md")

  expect(stdout).toContain("verified")
  expect(second.exitCode).toBe(0)
  expect(folder.read("two.txt")).toBe("one\n")
  expect(folder.leftovers).toEqual([])
})

test("a list of the first generation is adopted, and nothing of it is run", async () => {
  await using folder = new WorkFolder(service(), { "T.md": oldTaskList })

  const before = await folder.json("tasks", "status", "T.md")
  const adopted = await folder.json("adopt", "T.md")
  const after = await folder.json("tasks", "status", "T.md")
  const run = await folder.run("tasks", "run", "T.md")

  const states = (status: typeof before) =>
    JSON.stringify(status["tasks"]).match(/"state":"unattested"/g)?.length
  expect(states(before)).toBe(5)
  expect(states(after)).toBe(5)
  expect(adopted["claims"]).toHaveLength(5)
  expect(JSON.stringify(adopted["proposed"])).toContain("run")
  expect(run.exitCode).toBe(1)
  expect(folder.has("T.md.intoto.jsonl")).toBe(false)
  expect((await folder.run("verify", "T.md")).exitCode).toBe(1)
})

test("an act cannot accept its own task, nor run a trial", async () => {
  const agent = `#!/bin/sh
exec > "$HERE/said" 2>&1
ask() { "$@"; echo "exit $?"; }
ask $PROGRAM tasks accept --state-dir "$STATE" "$HERE/T.md" T04 --why done --by me
ask $PROGRAM tasks run --state-dir "$STATE" "$HERE/other.md"
unset WORK_TRIAL
ask $PROGRAM tasks accept --state-dir "$STATE" "$HERE/T.md" T04 --why done --by me
ask $PROGRAM tasks run --state-dir "$STATE" "$HERE/other.md"
touch one.txt; echo > one.txt
`
  await using folder = new WorkFolder(service(), { "actor.sh": actor })
  folder.write(
    "agent.sh",
    agent.replaceAll("$HERE", folder.path).replaceAll("$STATE", service().stateDir),
  )
  for (const name of ["T.md", "other.md"]) {
    folder.write(name, list.replace("actor.sh", "agent.sh"))
  }
  folder.commitAll()

  await folder.run("tasks", "run", "--task", "T01", "T.md")

  const said = folder.read("said")
  expect(said.match(/exit \d+/g)).toEqual(["exit 1", "exit 1", "exit 1", "exit 1"])
  expect(said.match(/must not judge or accept works/g)).toHaveLength(2)
  expect(said.match(/what a trial starts has not the scope `attest`/g)).toHaveLength(2)
  expect(folder.read("T.md")).not.toContain("accepted by")
  expect(folder.ledger("T.md")).toHaveLength(1)
})
