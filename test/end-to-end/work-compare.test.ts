import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { sharedService } from "../support/shared-service.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

/** Its first trials fail, as many as the file beside the project says. */
function promptFile(folder: WorkFolder, name: string, failures: number): string {
  const counter = join(folder.path, `../${name}-failures`)
  folder.write(`../${name}-failures`, `${failures}`)
  const agent =
    `left=$(cat ${counter}); test $left -gt 0 && echo $((left - 1)) > ${counter} && exit 1; ` +
    "touch out.txt"
  const settings = `name: ${name}\nagent: ${JSON.stringify(agent)}\nchecks: ["test -f out.txt"]`
  return `---\n${settings}\n---\n# ${name}\n`
}

type Outcome = {
  exitCode: number
  p: number
  significant: boolean
  better: string | null
  prompts: { success: number; failure: number; trials: { announced_at: string }[] }[]
  notes: string[]
}

async function compare(failures: number, trials: number): Promise<Outcome> {
  await using folder = new WorkFolder(service())
  folder.write("a.md", promptFile(folder, "a", 0))
  folder.write("b.md", promptFile(folder, "b", failures))
  const argv = ["prompt", "compare", "-n", `${trials}`, "--json", "a.md", "b.md"]
  const { stdout, stderr, exitCode } = await folder.run(...argv)
  if (stdout === "") throw new Error(stderr)
  expect(folder.leftovers).toEqual([])
  expect(folder.ledger("a.md")).toHaveLength(trials)
  expect(folder.ledger("b.md")).toHaveLength(trials)
  return { ...JSON.parse(stdout), exitCode }
}

describe("two prompts that are tried in turn", () => {
  test("with 10:0 against 6:4 differ by chance, as far as anybody can tell", async () => {
    const { prompts, p, significant, better, exitCode } = await compare(4, 10)

    expect(prompts).toMatchObject([
      { success: 10, failure: 0 },
      { success: 6, failure: 4 },
    ])
    expect(p.toFixed(3)).toBe("0.087")
    expect({ significant, better, exitCode }).toEqual({
      significant: false,
      better: null,
      exitCode: 0,
    })
    const order = prompts.flatMap(({ trials }, side) => trials.map((trial) => ({ ...trial, side })))
    const sides = order
      .toSorted((one, other) => one.announced_at.localeCompare(other.announced_at))
      .map(({ side }) => side)
    expect(sides).toEqual(Array.from({ length: 20 }, (_, index) => index % 2))
  })

  test("with 10:0 against 5:5 do differ", async () => {
    const { p, significant, better } = await compare(5, 10)

    expect(p.toFixed(3)).toBe("0.033")
    expect(significant).toBe(true)
    expect(better).toEndWith("/a.md")
  })

  test("are told apart in words, and only where they can be", async () => {
    await using folder = new WorkFolder(service())
    folder.write("a.md", promptFile(folder, "a", 0))
    folder.write("b.md", promptFile(folder, "b", 3).replace("test -f out.txt", "test -e out.txt"))

    const itself = await folder.run("prompt", "compare", "a.md", "./a.md")
    const few = await folder.run("prompt", "compare", "-n", "3", "-j", "2", "a.md", "b.md")
    const verified = await folder.run("verify", "b.md")

    expect(itself.exitCode).toBe(1)
    expect(itself.stderr).toContain("cannot be compared to itself")
    expect(few.exitCode).toBe(0)
    expect(few.stdout).toMatch(/^a +3:0 +/m)
    expect(few.stdout).toMatch(/^b +0:3 +/m)
    expect(few.stdout).toContain("they are judged by different checks")
    expect(few.stdout).toContain("not significant (p = 0.100, Fisher's exact test, two-sided)")
    expect(verified.stdout).toContain("counts       0:3")
  })

  test("in one repository, several at once, are told apart where they differ", async () => {
    await using folder = new WorkFolder(service())
    folder.write("a.md", promptFile(folder, "a", 0))
    folder.write("b.md", promptFile(folder, "b", 4))
    folder.commitAll()

    const argv = ["prompt", "compare", "-n", "4", "-j", "4", "b.md", "a.md"]
    const { stdout, exitCode } = await folder.run(...argv)

    expect(exitCode).toBe(0)
    expect(stdout).toContain(
      "significant (p = 0.029, Fisher's exact test, two-sided): a succeeds more often than b",
    )
    expect(folder.leftovers).toEqual([])
  })

  test("that are interrupted end what runs, and leave nothing", async () => {
    await using folder = new WorkFolder(service())
    const text = promptFile(folder, "a", 0).replace("touch out.txt", "touch ../acting; sleep 600")
    folder.write("a.md", text)
    folder.write("b.md", text.replace("name: a", "name: b"))
    const run = folder.start("prompt", "compare", "a.md", "b.md")
    const isActing = () =>
      existsSync(folder.places) && [...new Glob("*/acting").scanSync(folder.places)].length > 0
    await until("the act runs", isActing)

    run.kill("SIGINT")
    const stdout = await run.stdout.text()

    expect(await run.exited).toBe(130)
    expect(stdout).toContain("stopped: it was interrupted")
    expect(folder.leftovers).toEqual([])
  })

  test("of which one proves nothing are not counted, and the exit code says so", async () => {
    await using folder = new WorkFolder(service())
    folder.write("a.md", promptFile(folder, "a", 0))
    folder.write("b.md", promptFile(folder, "b", 0).replace("test -f out.txt", "true"))

    const { exitCode, stdout } = await folder.run("prompt", "compare", "-n", "1", "a.md", "b.md")

    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^b +0:0 .* 1 not proven$/m)
    expect(stdout).toContain("not significant (p = 1.000")
  })
})
