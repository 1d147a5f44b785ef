import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { z } from "zod"
import { rejection } from "../support/following.ts"
import { mcpUrl } from "../support/mcp-clients.ts"
import { askModern } from "../support/modern-mcp.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

let service: Service

beforeAll(async () => {
  service = await Service.start()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

describe("a call of `run` that declares tasks", () => {
  test("is answered at once, with an execution that can be asked for", async () => {
    const { result } = await runTask("sleep 60")
    const { taskId } = task(result)
    const found = await ask("tasks/get", { taskId })

    expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: null })
    expect(result).not.toHaveProperty("content")
    expect(found.result).toMatchObject({ resultType: "complete", taskId, status: "working" })
    expect(found.result).not.toHaveProperty("result")
    await ask("tasks/cancel", { taskId })
  })

  test("is answered with its result when that is there at once", async () => {
    const { result } = await runTask("echo quick")

    expect(result).toMatchObject({
      resultType: "complete",
      structuredContent: { succeeded: true, text: "quick\n" },
    })
  })

  test("has the tool's own answer when it is done", async () => {
    const { result } = await runTask("sleep 1; echo hello; exit 3")
    const done = await untilOver(task(result).taskId)

    expect(done).toMatchObject({
      status: "completed",
      result: { structuredContent: { exit_code: 3, succeeded: false, text: "hello\n" } },
    })
    expect(done.result.content[0].text).toContain("FAILED with exit code 3")
  })

  test("is cancelled by `tasks/cancel`, twice as well as once", async () => {
    const { taskId } = task((await runTask("sleep 60")).result)

    const first = await ask("tasks/cancel", { taskId })
    const again = await ask("tasks/cancel", { taskId })
    const done = await untilOver(taskId)

    expect(first.result).toEqual({ resultType: "complete", _meta: expect.anything() })
    expect(again.result).toEqual({ resultType: "complete", _meta: expect.anything() })
    expect(done.status).toBe("cancelled")
  })

  test("takes answers to nothing", async () => {
    const { taskId } = task((await runTask("sleep 2")).result)

    const updated = await ask("tasks/update", { taskId, inputResponses: { a: {} } })

    expect(updated.result).toEqual({ resultType: "complete", _meta: expect.anything() })
  })

  test("goes on when the gateway is killed", async () => {
    const { taskId } = task((await runTask("sleep 1; echo survived")).result)

    process.kill(service.gatewayPid, "SIGKILL")
    const done = await untilOver(taskId)

    expect(done).toMatchObject({
      status: "completed",
      result: { structuredContent: { text: "survived\n" } },
    })
  })

  test("is made and followed by the official client", async () => {
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } }
    const versionNegotiation = { mode: { pin: "2026-07-28" } }
    const client = new Client({ name: "t", version: "1" }, { capabilities, versionNegotiation })
    await client.connect(new StreamableHTTPClientTransport(await mcpUrl(service)))
    // The client knows no tasks by itself: what answers a call with one is an error to it, which
    // says the kind.
    const call = client.callTool({ name: "run", arguments: { command: "sleep 1; echo hi" } })
    expect(String(await rejection(call))).toContain("task")
    const { result } = await runTask("sleep 1; echo hi")
    const { taskId } = task(result)

    const done = await until("it is completed", async () => {
      const found = await client.request({ method: "tasks/get", params: { taskId } }, Task)
      return found.status === "completed" ? found : null
    })

    expect(done).toMatchObject({ taskId, result: { structuredContent: { text: "hi\n" } } })
    await client.close()
  })
})

describe("without the declaration", () => {
  test("a call is answered with its result", async () => {
    const params = { name: "run", arguments: { command: "echo hi" } }
    const { result } = await askModern(service, "tools/call", params)

    expect(result).toMatchObject({
      resultType: "complete",
      structuredContent: { succeeded: true, text: "hi\n" },
    })
  })

  test.each(["tasks/get", "tasks/update", "tasks/cancel"])("%s is refused", async (method) => {
    const { taskId } = task((await runTask("sleep 2")).result)

    const refused = await askModern(service, method, { taskId })

    expect(refused.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    })
  })
})

test.each(["zzzz", "a".repeat(26), `${"a".repeat(26)}.20000`, `${"a".repeat(26)}.1`, ""])(
  "%p is the id of no task",
  async (taskId) => {
    expect((await ask("tasks/get", { taskId })).error?.code).toBe(-32602)
  },
)

test("the extension is announced, and only in its own era", async () => {
  const legacy = new Client({ name: "t", version: "1" })
  await legacy.connect(new StreamableHTTPClientTransport(await mcpUrl(service)))

  const discovered = await askModern(service, "server/discover", {})

  expect(discovered.result?.["capabilities"].extensions).toEqual({
    "io.modelcontextprotocol/tasks": {},
  })
  expect(legacy.getServerCapabilities()).not.toHaveProperty("extensions")
  await legacy.close()
})

const Done = z.looseObject({ status: z.string(), result: z.any().optional() })

const Task = z.looseObject({ taskId: z.string(), status: z.string() })

function task(result: unknown): z.infer<typeof Task> {
  return Task.parse(result)
}

function ask(method: string, params: Record<string, unknown>) {
  return askModern(service, method, params, { tasks: true })
}

function runTask(command: string) {
  return ask("tools/call", { name: "run", arguments: { command } })
}

/** Asks as a client would, also while the gateway comes back. */
function untilOver(taskId: string): Promise<z.infer<typeof Done>> {
  return until("the task is over", async () => {
    const found = await ask("tasks/get", { taskId }).catch(() => null)
    const read = Done.safeParse(found?.result)
    return read.success && read.data.status !== "working" ? read.data : null
  })
}
