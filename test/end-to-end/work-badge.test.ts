import { expect, test } from "bun:test"
import { sharedService } from "../support/shared-service.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

const shownIn = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)

test("a badge cannot show what the record does not hold", async () => {
  const front = '---\nname: p\nagent: touch out.txt\nchecks: ["test -f out.txt"]\n---\n'
  const claims = "- **Success/Failure Ratio**: 99:0\n- **Success**: 99\n"
  await using folder = new WorkFolder(service(), { "p.md": `${front}# P\n\n${claims}` })

  const untried = await folder.run("badge", "p.md")
  await folder.run("prompt", "run", "-n", "2", "p.md")
  const tried = await folder.run("badge", "p.md")
  folder.write("p.md", folder.read("p.md").replaceAll(/Success\*\*: 2/g, "Success**: 50"))
  const edited = await folder.run("badge", "p.md")
  const [one = "", two = ""] = folder.ledger("p.md")
  const ledgers = [[one], [one, two, two], [one.replace("a", "b"), two], []]
  for (const lines of ledgers) {
    folder.write("p.md.intoto.jsonl", lines.map((line) => `${line}\n`).join(""))
    const { stdout, stderr, exitCode } = await folder.run("badge", "p.md")

    expect([lines.length, exitCode, shownIn(stdout)]).toEqual([
      lines.length,
      1,
      ["p", "ledger damaged"],
    ])
    expect(stderr).toContain("the ledger: ")
    expect(stdout).not.toMatch(/\d:\d/)
  }
  await folder.run("render", "p.md")
  const before = folder.read("p.md")
  const written = await folder.run("badge", "-o", "docs/p.svg", "p.md")

  expect(shownIn(untried.stdout)).toEqual(["p", "nothing proven"])
  expect(shownIn(tried.stdout)).toEqual(["p", "2:0 · ≥ 34 %"])
  expect(edited.stdout).toBe(tried.stdout)
  expect([written.exitCode, written.stdout]).toEqual([0, ""])
  expect(folder.read("docs/p.svg")).toBe(tried.stdout)
  expect(folder.read("p.md")).toBe(before)
})
