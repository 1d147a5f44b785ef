import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { mcpUrl } from "../support/mcp-clients.ts"
import { askModern, envelope } from "../support/modern-mcp.ts"
import { sharedService } from "../support/shared-service.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { placesElsewhere } from "../support/work-deeds.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService({ env: placesElsewhere })

const actor = `cat > /dev/null
case $WORK_ITEM in
T01) echo one > one.txt ;;
T02) echo "T02 is done, all checks PASSED"; sed -i 's/- \\[ \\]/- [x]/' T.md ;;
esac
`

const list = `---
agent: sh actor.sh
---
- [ ] **T01 – First**
  Check: \`test -s one.txt\`
- [ ] **T02 – Second**
  Check: \`test -s two.txt\`
- [ ] **T03 – For a person**
`

describe("an assistant that works through a task list", () => {
  test("has ticked what a check has shown, and nothing by saying or writing so", async () => {
    await using folder = new WorkFolder(service(), { "actor.sh": actor, "T.md": list })
    folder.commitAll()
    const path = `${folder.path}/T.md`

    const before = await used("work_status", { path })
    const run = await used("work_run", { path })
    const ended = await used("wait", { execution_id: run["execution_id"] })
    const after = await used("work_status", { path })
    const sound = await used("work_verify", { path })
    folder.write("T.md", folder.read("T.md").replace("- [ ] **T02", "- [x] **T02"))
    const ticked = await call("work_status", { path })
    const refuted = await call("work_verify", { path })
    folder.write(
      "T.md",
      folder.read("T.md").replace(/person..$/m, "$&\n  _Verified:_ accepted by me: x"),
    )
    const accepted = await call("work_status", { path })

    expect(before).toMatchObject({ tasks_verified: 0, tasks_open: 3, ratio: "0:0" })
    expect(run).toMatchObject({ tasks: [{ id: "T01" }, { id: "T02" }], without_check: ["T03"] })
    expect(ended).toMatchObject({ ended: true, exit_code: 1 })
    expect(after).toMatchObject({
      tasks: [
        { id: "T01", state: "verified", trial: 1 },
        { id: "T02", state: "failed", trial: 2 },
        { id: "T03", state: "open", trial: null },
      ],
      ratio: "1:1",
      last_failures: [{ trial: 2, task: "T02", verdict: "FAILED" }],
      problems: [],
    })
    expect(sound).toMatchObject({ verified: true, edited: [], work: { tasks_verified: 1 } })
    expect(ticked.structuredContent).toMatchObject({
      tasks_verified: 1,
      problems: [expect.stringContaining("T02")],
    })
    expect(ticked.content[0]?.text).toContain("do not report such ticks")
    expect(refuted.structuredContent).toMatchObject({ verified: false })
    expect(refuted.content[0]?.text).toStartWith("NOT VERIFIED")
    expect(accepted.structuredContent).toMatchObject({ tasks_verified: 1, tasks_accepted: 1 })
    expect(accepted.content[0]?.text).toContain("1 accepted by a person, as the file says")
    expect(folder.leftovers).toEqual([])
  })

  test("does one task, tries a prompt, and has checks run again", async () => {
    const files = { "actor.sh": actor, "T.md": list, "p.md": prompt }
    await using folder = new WorkFolder(service(), files)
    const path = `${folder.path}/T.md`
    const promptPath = `${folder.path}/p.md`

    const first = await used("work_run", { path, task: "T01" })
    await used("wait", { execution_id: first["execution_id"] })
    const again = await used("work_verify", { path, rerun: true })
    folder.write("one.txt", "")
    const broken = await used("work_verify", { path, rerun: true })
    const tried = await used("work_run", { path: promptPath, count: 2, jobs: 2 })
    await used("wait", { execution_id: tried["execution_id"] })

    expect(again).toMatchObject({ verified: true, broken: [], work: { tasks_verified: 1 } })
    expect(broken).toMatchObject({ verified: false, broken: [{ task: "T01" }] })
    expect(folder.read("T.md")).toContain("- [ ] **T01")
    expect(tried).toMatchObject({ kind: "prompt", trials: 2, tasks: [] })
    expect(await used("work_status", { path: promptPath })).toMatchObject({
      ratio: "2:0",
      tasks_verified: null,
      interval_95: { low: expect.any(Number) },
    })
  })
})

const prompt = `---
agent: touch out.txt
checks: [test -f out.txt]
---
# P
`

describe("work_run is refused", () => {
  test("to whoever may not attest, and nothing is run", async () => {
    await using folder = new WorkFolder(service(), { "actor.sh": actor, "T.md": list })
    const scope = "execute,control,read"
    const token = await makeToken(service().stateDir, { name: "helper", scope })
    const path = `${folder.path}/T.md`

    const refused = await call("work_run", { path }, token)
    const rerun = await call("work_verify", { path, rerun: true }, token)
    const status = await call("work_status", { path }, token)

    for (const { isError, content } of [refused, rerun]) {
      expect(isError).toBe(true)
      expect(content[0]?.text).toMatch(/^FORBIDDEN: .*`attest`/)
    }
    expect(status.structuredContent).toMatchObject({ tasks_open: 3 })
    expect(folder.has("T.md.intoto.jsonl")).toBe(false)
  })

  test("to an act of a trial, whatever it shows", async () => {
    await using folder = new WorkFolder(service(), { "T.md": list, "U.md": list })
    const path = `${folder.path}/U.md`
    const params = { name: "work_run", arguments: { path }, _meta: envelope() }
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params }
    const headers = ["Mcp-Method: tools/call", "Mcp-Name: work_run"]
    const given = [...headers, ...always].map((header) => `-H '${header}'`).join(" ")
    const url = (await mcpUrl(service())).href
    folder.write("request.json", JSON.stringify(request))
    const ask = `curl -s ${given} --data @request.json ${url} > ${folder.path}/said`
    folder.write("actor.sh", `cat > /dev/null\n${ask}\necho one > one.txt\n`)

    const run = await used("work_run", { path: `${folder.path}/T.md`, task: "T01" })
    await used("wait", { execution_id: run["execution_id"] })

    expect(folder.read("said")).toMatch(/FORBIDDEN: You are part of trial/)
    expect(folder.has("U.md.intoto.jsonl")).toBe(false)
    expect(folder.ledger("T.md")).toHaveLength(1)
  })

  test.each([
    ["no file", { path: "/nowhere/T.md" }, /nowhere/],
    ["a directory", { path: "/etc" }, /^INVALID_PARAMS: \/etc is not a file\./],
    ["what has no end", { path: "/dev/zero" }, /^INVALID_PARAMS: \/dev\/zero is not a file\./],
    ["a file without a place", { path: "T.md" }, /^INVALID_PARAMS: .*give it in full/],
  ])("for %s", async (_, args, why) => {
    const { isError, content } = await call("work_run", args)

    expect(isError).toBe(true)
    expect(content[0]?.text).toMatch(why)
  })

  test("for what a list has not", async () => {
    await using folder = new WorkFolder(service(), { "T.md": list })
    const path = `${folder.path}/T.md`

    const noTask = await call("work_run", { path, task: "T9" })
    const noPrompt = await call("work_run", { path, count: 2 })
    const forPerson = await used("work_run", { path, task: "T03" })

    expect(noTask.content[0]?.text).toContain("has no task T9: it has T01, T02, T03")
    expect(noPrompt.content[0]?.text).toContain("are for prompts")
    expect(forPerson).toMatchObject({ execution_id: null, without_check: ["T03"] })
  })
})

const always = [
  "Content-Type: application/json",
  "Accept: application/json, text/event-stream",
  "MCP-Protocol-Version: 2026-07-28",
]

const Called = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
})

async function call(name: string, args: Record<string, unknown>, token?: string) {
  const params = { name, arguments: args }
  const shown = token === undefined ? {} : bearing(token)
  const { result } = await askModern(service(), "tools/call", params, shown)
  return Called.parse(result)
}

async function used(name: string, args: Record<string, unknown>) {
  const { isError, structuredContent, content } = await call(name, args)
  if (isError === true) throw new Error(content[0]?.text)
  return structuredContent ?? {}
}
