import { describe, expect, test } from "bun:test"
import { sharedService } from "../support/shared-service.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

function promptFile(check: string, agent: string, more = ""): string {
  const quote = (text: string) => JSON.stringify(text)
  const settings = `agent: ${quote(agent)}\nchecks: [{run: ${quote(check)}, red: base}]\n${more}`
  return `---\nname: p\n${settings}---\n# P\n\nBriefing.\n`
}

describe("a trial that proves nothing counts for nothing", () => {
  const testWithoutWork = "mkdir -p tests; echo 'exit 0' > tests/a.test.sh"
  test.each([
    ["its check ends in || true", "test -f out.txt || true", "touch out.txt", "WARNED"],
    ["its check is an echo", "echo ok", "touch out.txt", "WARNED"],
    ["its check ends in true", "false | tee log; true", "touch out.txt", "WARNED"],
    [
      "its test was written by the act, and needs no work",
      "sh tests/a.test.sh",
      testWithoutWork,
      "WARNED",
    ],
    ["its check is not there", "no-such-program out.txt", "touch out.txt", "BROKEN"],
  ])("where %s", async (_, check, agent, verdict) => {
    await using folder = new WorkFolder(service(), { "p.md": promptFile(check, agent) })
    folder.commitAll()

    const status = await folder.json("prompt", "run", "p.md")

    expect(status).toMatchObject({ exitCode: 1, success: 0, failure: 0, trials: 1 })
    expect(status["run"]).toMatchObject({ trials: [{ verdict }] })
    expect(folder.leftovers).toEqual([])
  })
})

describe("a trial fails", () => {
  const check = "test -f out.txt && sh check.sh"
  test.each([
    ["that changes what its check runs", "touch out.txt; echo true > check.sh", ""],
    ["that changes its briefing", "touch out.txt; sed -i s/Briefing/Other/ p.md", ""],
    ["that adds to a protected folder", "touch out.txt kept/b", "protect: [kept/]\n"],
    ["that only says what the service would", "echo MARKER_20261119_000000_aaaa end exit 0", ""],
  ])("%s", async (_, agent, more) => {
    const files = { "check.sh": "exit 0\n", "kept/a": "", "p.md": promptFile(check, agent, more) }
    await using folder = new WorkFolder(service(), files)
    folder.commitAll()

    const { exitCode, stderr } = await folder.run("prompt", "run", "p.md")

    expect(stderr).toContain("FAILED")
    expect(exitCode).toBe(1)
    expect(await folder.json("verify", "p.md")).toMatchObject({
      exitCode: 0,
      status: { success: 0, failure: 1 },
    })
  })
})

describe("a work that somebody has edited", () => {
  /** One failure, two successes. */
  async function tried(): Promise<WorkFolder> {
    const agent = "test -e ../../../../../project/ready && touch out.txt"
    const folder = new WorkFolder(service(), { "p.md": promptFile("test -f out.txt", agent) })
    await folder.run("prompt", "run", "p.md")
    folder.write("ready", "")
    await folder.run("prompt", "run", "-n", "2", "p.md")
    expect(folder.read("p.md")).toContain("**Success**: 2")
    return folder
  }

  const ledgerName = "p.md.intoto.jsonl"

  test("is found, said and restored, whatever it was", async () => {
    await using folder = await tried()
    const text = folder.read("p.md")
    const lines = folder.ledger("p.md")
    const [one = "", two = "", three = ""] = lines
    const edited = (line: string) => {
      const envelope = JSON.parse(line)
      const statement = Buffer.from(envelope.payload, "base64").toString("utf8")
      const payload = Buffer.from(statement.replaceAll("FAILED", "PASSED")).toString("base64")
      return JSON.stringify({ ...envelope, payload })
    }
    const attempts: [what: string, file: string, ledger: string[], said: RegExp][] = [
      ["a count", text.replace("**Failure**: 1", "**Failure**: 0"), lines, /edited +line \d+/],
      ["what follows from it", text.replace("Ratio**: 2:1", "Ratio**: 2:0"), lines, /edited/],
      ["a failure deleted", text, [two, three], /DAMAGED/],
      ["its end cut off", text, [one, two], /DAMAGED/],
      ["a verdict changed", text, [edited(one), two, three], /DAMAGED/],
      ["a line twice", text, [one, two, three, three], /DAMAGED/],
      ["another order", text, [two, one, three], /DAMAGED/],
    ]
    for (const [what, file, ledger, said] of attempts) {
      folder.write("p.md", file.replace("Briefing.", "Briefing.\n\nA person's words."))
      folder.write(ledgerName, `${ledger.join("\n")}\n`)

      const found = await folder.run("verify", "p.md")
      const rendered = await folder.run("render", "p.md")

      expect([what, found.exitCode, rendered.exitCode]).toEqual([what, 1, 0])
      expect(found.stdout).toMatch(said)
      expect(folder.ledger("p.md")).toEqual(lines)
      expect(folder.read("p.md")).toBe(text.replace("Briefing.", "Briefing.\n\nA person's words."))
    }
    expect((await folder.run("verify", "p.md")).exitCode).toBe(0)
  })

  test("keeps its failure when the execution that failed is removed", async () => {
    await using folder = await tried()
    const { status } = await folder.json("verify", "p.md")
    const list = await folder.run("ps", "-a", "-q", "--label", "trial=1")
    for (const id of list.stdout.trim().split("\n")) await folder.run("rm", id)

    const after = await folder.json("verify", "p.md")

    expect(after).toMatchObject({ exitCode: 0, status: { success: 2, failure: 1 } })
    expect(after["status"]).toEqual(status)
  })

  test("gains nothing by the ledger of another one", async () => {
    await using folder = await tried()
    folder.write("q.md", folder.read("p.md").replace("name: p", "name: q"))
    folder.write("q.md.intoto.jsonl", folder.read(ledgerName))
    folder.write("copy/p.md", folder.read("p.md"))
    folder.write(`copy/${ledgerName}`, folder.read(ledgerName))

    const renamed = await folder.run("verify", "q.md")
    const copied = await folder.run("verify", "copy/p.md")

    expect(renamed.exitCode).toBe(1)
    expect(copied.exitCode).toBe(1)
    expect(copied.stdout).toContain("DAMAGED")
  })
})

test("a box ticked by hand is not verified", async () => {
  await using folder = new WorkFolder(service(), {
    "T.md": "# T\n\n- [x] **T01 – One**\n  Check: `test -f one`\n",
  })

  const { exitCode, stdout } = await folder.run("verify", "T.md")

  expect(exitCode).toBe(1)
  expect(stdout).toContain("T01 is ticked, but nothing attests that")
})
