import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { askModern } from "../support/modern-mcp.ts"
import { calculator, fixer } from "../support/review-files.ts"
import { sharedService } from "../support/shared-service.ts"
import { placesElsewhere } from "../support/work-deeds.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService({ env: placesElsewhere })

const fix = {
  id: 2,
  severity: "critical",
  file: "calc.sh",
  line: 2,
  issue: "It subtracts.",
  fix: "Add.",
  verification: "sh tests/add.sh",
}

describe("another model that reviews over MCP", () => {
  async function requested(): Promise<{ folder: WorkFolder; path: string }> {
    const folder = new WorkFolder(service(), { ...calculator, "fixer.sh": fixer })
    const asked = ["--fixer", "sh fixer.sh", "--check", "sh calc.sh 2 3"]
    const { stdout } = await folder.run("review", "request", ...asked, "calc", "calc.sh")
    return { folder, path: stdout.trim() }
  }

  test("delivers what is in order, and has it put right", async () => {
    const { folder, path } = await requested()
    await using _folder = folder
    const ran = await used("run", { command: "sh calc.sh 2 3", cwd: folder.path })
    const id = String(ran["execution_id"])
    const feedback = `Execution ${id} ended with exit 0:\n\n~~~\n-1\n~~~\n`

    const submitted = await used("review_submit", { path, feedback, fixes: [fix] })
    const list = String(submitted["fixes"])
    const status = await used("work_status", { path: list })
    const run = await used("work_run", { path: list })
    await used("wait", { execution_id: run["execution_id"] })
    const verified = await used("work_verify", { path: list })

    expect(submitted).toMatchObject({
      count: 1,
      fixes: `${folder.path}/executor/001_calc_fixes.json`,
    })
    expect(folder.read("executor/001_calc_review_feedback.md")).toContain(`| ${id} |`)
    expect(status).toMatchObject({
      kind: "fixes",
      tasks_open: 1,
      tasks: [{ id: "2", state: "open" }],
    })
    expect(verified).toMatchObject({ verified: true, work: { tasks_verified: 1 } })
    expect(JSON.parse(folder.read("executor/001_calc_fixes.json")).fixes[0].result).toMatchObject({
      status: "FIXED",
    })
  })

  test.each([
    [
      "a severity that there is not",
      { fixes: [{ ...fix, severity: "huge" }] },
      /fixes\.0\.severity/,
    ],
    ["a result of its own", { fixes: [{ ...fix, result: { status: "FIXED" } }] }, /result/],
    ["an id twice", { fixes: [fix, fix] }, /the id 2 stands here twice/],
    ["a usage check that was not run", {}, /no execution that has run the usage check/],
    ["an execution that is not there", { feedback: "a".repeat(26) }, /there is no execution a{26}/],
  ])("is refused for %s, and nothing is written", async (_, wrong, why) => {
    const { folder, path } = await requested()
    await using _folder = folder

    const given = { path, feedback: "All is well.", fixes: [], ...wrong }
    const { isError, content } = await call("review_submit", given)

    expect(isError).toBe(true)
    expect(content[0]?.text).toMatch(why)
    expect(content[0]?.text).toStartWith("INVALID_PARAMS")
    expect(folder.has("executor")).toBe(false)
  })
})

const Called = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
})

async function call(name: string, args: Record<string, unknown>) {
  const { result } = await askModern(service(), "tools/call", { name, arguments: args })
  return Called.parse(result)
}

async function used(name: string, args: Record<string, unknown>) {
  const { isError, structuredContent, content } = await call(name, args)
  if (isError === true) throw new Error(content[0]?.text)
  return structuredContent ?? {}
}
