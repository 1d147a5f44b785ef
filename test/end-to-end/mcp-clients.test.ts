import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { z } from "zod"
import { resourceTemplates } from "../../src/service/transports/mcp/resources/resource-uri.ts"
import { rejection } from "../support/following.ts"
import {
  type ClientKind,
  clientKinds,
  connectClient,
  type McpClient,
} from "../support/mcp-clients.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000

/** Each way in once; what else differs between clients is tried in the full run. */
const someKinds: ClientKind[] = [
  "SDK v1 over WebSocket",
  "SDK v2 over HTTP, 2026-07-28",
  "SDK v2 over stdio, legacy",
]
const kinds = byScale({ short: someKinds, full: clientKinds, long: clientKinds })

let service: Service

beforeAll(async () => {
  service = await Service.start()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

describe("while it waits, progress is told to", () => {
  test.concurrent.each(kinds)(
    "%s",
    async (kind) => {
      await using client = await connect(kind)
      const told: string[] = []

      const ran = await client.call(
        "run",
        { command: "sleep 6; echo done" },
        { onprogress: ({ message = "" }) => void told.push(message) },
      )

      expect(ran.structuredContent).toMatchObject({ succeeded: true, text: "done\n" })
      expect(told).toHaveLength(2)
      const id = ran.structuredContent?.["execution_id"]
      for (const message of told) expect(message).toStartWith(`Execution ${id} is running`)
    },
    timeoutMs,
  )
})

describe.each(kinds)("%s", (kind) => {
  test("lists tools that say what they do, take and give", async () => {
    await using client = await connect(kind)

    const { tools } = await client.listTools()

    expect(tools.map(({ name }) => name)).toEqual(toolNames)
    for (const tool of tools) expect(Described.safeParse(tool).error).toBeUndefined()
    expect(client.instructions()).toContain("`start` a command")
  })

  test("starts a command, waits for it, and reads what it wrote", async () => {
    await using client = await connect(kind)

    const id = await start(client, "seq 3; echo oops >&2; exit 7")
    const waited = await client.call("wait", { execution_id: id })
    const output = await client.call("output", { execution_id: id })

    expect(waited.structuredContent).toMatchObject({ ended: true, succeeded: false, exit_code: 7 })
    expect(waited.content[0]?.text).toContain("FAILED with exit code 7")
    expect(output.structuredContent).toMatchObject({ ended: true, has_more: false })
    expect(output.structuredContent?.["text"].split("\n").toSorted().join()).toBe(",1,2,3,oops")
  })

  test("gets an answer that fits, however much was written", async () => {
    await using client = await connect(kind)

    const ran = await client.call("run", { command: "seq 200000", max_bytes: 3000 })

    const { text, omitted_from, omitted_bytes } = ran.structuredContent ?? {}
    expect(text.length).toBeLessThan(3500)
    expect(text).toStartWith("1\n2\n3\n")
    expect(text).toEndWith("199999\n200000\n")
    const next = await client.call("output", { execution_id: idIn(ran), from: omitted_from })
    const head = text.slice(0, text.indexOf("[…"))
    const lastOfHead = Number(head.trimEnd().split("\n").at(-1))
    expect(next.structuredContent?.["text"]).toStartWith(`${lastOfHead + 1}\n`)
    const all = Buffer.byteLength(seq(200_000))
    const tail = text.slice(text.indexOf("…]\n") + 3)
    expect(omitted_bytes).toBe(all - head.length - tail.length)
  })

  test("cancels a call, and what it had started goes on", async () => {
    await using client = await connect(kind)
    const label = { test: crypto.randomUUID() }
    const giveUp = new AbortController()

    const call = client.call("run", { command: "sleep 60", labels: label }, giveUp)
    const id = await until("it runs", () => idWithLabel(client, label))
    giveUp.abort()
    expect(String(await rejection(call))).toContain("")
    const left = await client.call("wait", { execution_id: id, timeout_s: 0 })
    const canceled = await client.call("cancel", { execution_id: id })

    expect(left.structuredContent).toMatchObject({ ended: false, state: "running" })
    expect(canceled.structuredContent).toMatchObject({ cause: "client", left: [] })
  })

  test("pauses, resumes, signals, and writes to what it started", async () => {
    await using client = await connect(kind)
    const script = "trap 'echo hup' HUP; echo ready; while read line; do echo got $line; done"
    const started = await client.call("start", { command: script, stdin: "pipe" })
    const target = { execution_id: idIn(started) }
    await until("it is ready", async () => (await newest(client, target)).includes("ready"))

    const paused = await client.call("pause", target)
    const resumed = await client.call("resume", target)
    const signaled = await client.call("signal", { ...target, signal: "SIGHUP" })
    const first = { ...target, text: "one\n", writer: "a", offset: 0 }
    const sent = await client.call("input", first)
    const again = await client.call("input", first)
    const other = await client.call("input", { ...first, writer: "b", text: "two\n" })
    const anonymous = await client.call("input", { ...target, text: "three\n" })
    const uncounted = await client.call("input", { ...target, text: "never\n", offset: 6 })
    const last = { ...target, text: "four\n", writer: "a", offset: 4, end: true }
    const closed = await client.call("input", last)
    const waited = await client.call("wait", target)

    expect(paused.structuredContent).toMatchObject({ state: "paused" })
    expect(resumed.structuredContent).toMatchObject({ state: "running" })
    expect(signaled.isError).not.toBe(true)
    expect(sent.structuredContent).toMatchObject({ accepted: 4, offset: 4 })
    expect(again.structuredContent).toMatchObject({ accepted: 0, offset: 4 })
    expect(other.structuredContent).toMatchObject({ accepted: 4, offset: 4 })
    expect(anonymous.structuredContent).toMatchObject({ accepted: 6 })
    expect(anonymous.structuredContent).not.toHaveProperty("offset")
    expect(uncounted).toMatchObject({ isError: true })
    expect(JSON.stringify(uncounted.content)).toContain("An `offset` needs a `writer`")
    expect(closed.structuredContent).toMatchObject({ accepted: 5, offset: 9 })
    expect(waited.structuredContent).toMatchObject({ succeeded: true })
    expect(waited.structuredContent?.["newest"]).toContain("got one\ngot two\n")
  })

  test("finds lines by a pattern, with the lines around them", async () => {
    await using client = await connect(kind)
    const id = await start(client, "seq 100; echo 'Error: it broke'; seq 3")
    await client.call("wait", { execution_id: id })

    const request = { execution_id: id, pattern: "(?i)^error", context_lines: 2 }
    const found = await client.call("output", request)

    expect(found.structuredContent).toMatchObject({
      text: "99-99\n100-100\n101:Error: it broke\n102-1\n103-2",
      matches: 1,
    })
  })

  test("verifies a claim, and gets the receipt", async () => {
    await using client = await connect(kind)
    const id = await start(client, "echo All tests passed")
    await client.call("wait", { execution_id: id })

    const true_ = await client.call("verify", { execution_id: id, contains: "tests passed" })
    const false_ = await client.call("verify", { execution_id: id, contains: "tests failed" })
    const receipt = await client.call("receipt", { execution_id: id })

    expect(true_.structuredContent).toMatchObject({ verified: true, chain: "intact" })
    expect(false_.structuredContent).toMatchObject({ verified: false })
    expect(false_.content[0]?.text).toStartWith("NOT VERIFIED")
    expect(receipt.structuredContent).toMatchObject({
      receipt: { execution_id: id, outcome: { kind: "exited", exitCode: 0 } },
      signed: { signatures: [{}] },
    })
  })

  test("reads resources, and has ids completed", async () => {
    await using client = await connect(kind)
    const id = await start(client, "seq 20000")
    await client.call("wait", { execution_id: id })
    const state = `cc-executor://executions/${id}`

    const { resources } = await client.listResources()
    const pages = await transcriptOf(client, `${state}/transcript`)

    expect(await client.listTemplates()).toEqual(Object.values(resourceTemplates))
    expect(resources.map(({ uri }) => uri)).toContain(state)
    expect(JSON.parse((await client.read(state)).text)).toMatchObject({ state: "ended" })
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.join("")).toBe(seq(20_000))
    expect(JSON.parse((await client.read(`${state}/receipt`)).text)).toMatchObject({
      receipt: { execution_id: id },
    })
    expect(await client.completeId(resourceTemplates.state, id.slice(0, 6))).toContain(id)
    expect(String(await rejection(client.read("cc-executor://executions/zzzz")))).toContain(
      "not found",
    )
  })

  test("gets prompts that name the tools", async () => {
    await using client = await connect(kind)

    const text = await client.prompt("run-and-verify", { command: "make test", claim: "ok" })

    expect(text).toContain("make test")
    expect(text).toContain("`verify`")
    expect(String(await rejection(client.prompt("investigate-failure", {})))).toContain(
      "execution_id",
    )
  })

  test.each([
    ["wait", { execution_id: "zzzz" }, "PROCESS_NOT_FOUND", "Call `list`"],
    ["start", { command: "no-such-program-here" }, "SPAWN_FAILED", "Check the program's name"],
    ["start", { command: "true", argv: ["true"] }, "INVALID_PARAMS", "Correct the arguments"],
    ["run", {}, "INVALID_PARAMS", "either `command` or `argv`"],
    ["output", { execution_id: "a", pattern: "(" }, "INVALID_PARAMS", "this group is not closed"],
    ["verify", { execution_id: "a" }, "INVALID_PARAMS", "There is no claim to check"],
  ])("is told why %s %j is refused: %s", async (name, args, reason, advice) => {
    await using client = await connect(kind)

    const refused = await client.call(name, args)

    expect(refused.isError).toBe(true)
    expect(refused.content[0]?.text).toStartWith(`${reason}: `)
    expect(refused.content[0]?.text).toContain(advice)
  })
})

const toolNames = [
  ...words("start wait output run list input pause resume cancel signal verify receipt"),
  ...words("agent_start agent_wait agent_answer agent_send agent_interrupt agent_status"),
  ...words("work_run work_status work_verify review_submit"),
]

function words(text: string): string[] {
  return text.split(" ")
}

const Schema = z.looseObject({
  type: z.literal("object"),
  properties: z.looseObject({}),
  examples: z.array(z.unknown()).min(1),
})
const Described = z.looseObject({
  description: z.string().min(40),
  inputSchema: Schema,
  outputSchema: Schema,
  annotations: z.looseObject({ readOnlyHint: z.boolean(), idempotentHint: z.boolean() }),
})

function connect(kind: ClientKind): Promise<McpClient> {
  return connectClient(kind, service)
}

async function start(client: McpClient, command: string): Promise<string> {
  return idIn(await client.call("start", { command }))
}

function idIn({ structuredContent }: Awaited<ReturnType<McpClient["call"]>>): string {
  return z.object({ execution_id: z.string() }).parse(structuredContent).execution_id
}

async function idWithLabel(client: McpClient, labels: object): Promise<string | undefined> {
  const listed = await client.call("list", { labels })
  return listed.structuredContent?.["executions"][0]?.execution_id
}

async function newest(client: McpClient, target: { execution_id: string }): Promise<string> {
  const output = await client.call("output", { ...target, last_lines: 5 })
  return output.structuredContent?.["text"]
}

async function transcriptOf(client: McpClient, first: string): Promise<string[]> {
  const pages: string[] = []
  for (let uri: string | undefined = first; uri !== undefined; ) {
    const page: Awaited<ReturnType<McpClient["read"]>> = await client.read(uri)
    pages.push(page.text)
    uri = z.string().optional().parse(page.meta["cc-executor/next"])
  }
  return pages
}

function seq(last: number): string {
  return Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("")
}
