import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { z } from "zod"
import { ExecuteResult } from "../../src/protocol/execute.ts"
import { ExecutionView } from "../../src/protocol/execution-view.ts"
import { methods } from "../../src/protocol/methods.ts"
import { endpoints } from "../../src/service/transports/http/endpoints.ts"
import { EventTalk, HttpTalk, refusalOf } from "../support/http-talk.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000
const mebibyte = 1024 * 1024

let service: Service
let http: HttpTalk

beforeAll(async () => {
  service = await Service.start()
  http = new HttpTalk((await service.url("/")).replace(/\/$/, ""))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function start(body: object): Promise<string> {
  return (await http.call(ExecuteResult, "POST", "/executions", body)).execution_id
}

async function finished(body: object): Promise<z.infer<typeof ExecutionView>> {
  const id = await start(body)
  return until(`the end of ${id}`, async () => {
    const view = await http.call(ExecutionView, "GET", `/executions/${id}`)
    return view.state === "ended" ? view : null
  })
}

describe("an execution", () => {
  test("is started, shown, listed and removed", async () => {
    const started = await http.ask("POST", "/executions", {
      command: "echo hi",
      labels: { n: "1" },
    })
    const { execution_id: id } = ExecuteResult.parse(await started.json())
    expect(started.status).toBe(201)
    expect(started.headers.get("location")).toBe(`/executions/${id}`)
    await until("its end", async () => {
      const view = await http.call(ExecutionView, "GET", `/executions/${id.slice(0, 10)}`)
      return view.ending?.exit_code === 0
    })

    const list = await http.call(methods.list.result, "GET", "/executions?label=n:1&state=ended")
    expect(list.executions.map(({ execution_id }) => execution_id)).toEqual([id])
    expect((await http.ask("DELETE", `/executions/${id}`)).status).toBe(200)
    expect(await http.refused("GET", `/executions/${id}`)).toMatchObject({
      status: 404,
      code: -32003,
      reason: "PROCESS_NOT_FOUND",
    })
  })

  test("is started once under an idempotency key", async () => {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": "once" }
    const post = (body: object) =>
      http.fetch("/executions", { method: "POST", headers, body: JSON.stringify(body) })

    const first = await post({ command: "echo hi" })
    const second = await post({ command: "echo hi" })
    const other = await refusalOf(await post({ command: "echo other" }))

    expect([first.status, second.status]).toEqual([201, 200])
    const ids = [await first.json(), await second.json()].map((body) => ExecuteResult.parse(body))
    expect(ids[1]).toMatchObject({ execution_id: ids[0]?.execution_id, repeated: true })
    expect(other).toMatchObject({ status: 409, reason: "IDEMPOTENCY_MISMATCH" })
  })

  test("is listed page by page", async () => {
    const ids = []
    for (let count = 0; count < 5; count += 1) {
      ids.push((await finished({ command: "true", labels: { page: "x" } })).execution_id)
    }
    const found: string[] = []
    let cursor: string | undefined = ""
    while (cursor !== undefined) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`
      const path = `/executions?label=page:x&limit=2${more}`
      const page: z.infer<typeof methods.list.result> = await http.call(
        methods.list.result,
        "GET",
        path,
      )
      found.push(...page.executions.map(({ execution_id }) => execution_id))
      cursor = page.cursor
    }
    expect(found).toEqual(ids.toReversed())
  })

  test("is paused, resumed, signalled and cancelled", async () => {
    const id = await start({ argv: ["sleep", "60"] })
    const control = (body: object) =>
      http.call(methods.control.result, "POST", `/executions/${id}/control`, body)

    expect(await control({ type: "PAUSE" })).toMatchObject({ status: "paused" })
    const paused = await http.call(ExecutionView, "GET", `/executions/${id}`)
    expect(paused.state).toBe("paused")
    expect(await control({ type: "RESUME" })).toMatchObject({ status: "resumed" })
    const signaled = await control({ type: "SIGNAL", signal: "CONT" })
    expect(signaled).toMatchObject({ status: "signaled", processes: 1 })
    const canceled = await control({ type: "CANCEL" })
    expect(canceled).toMatchObject({ status: "canceled", survivors: [] })
  })

  test("is given input as JSON, as base64 and as bytes", async () => {
    const id = await start({ argv: ["cat"], stdin: "pipe" })
    const path = `/executions/${id}/input`
    const input = (body: object) => http.call(methods.input.result, "POST", path, body)

    expect(await input({ data: "é\n" })).toEqual({ accepted: 3, offset: 3 })
    expect(await input({ data: "AP8=", encoding: "base64", offset: 3 })).toEqual({
      accepted: 2,
      offset: 5,
    })
    const response = await http.fetch(`${path}?end=true`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: Uint8Array.of(1, 2, 3),
    })
    expect(await response.json()).toEqual({ accepted: 3, offset: 8 })
    const output = await (await http.fetch(`/executions/${id}/output`)).bytes()
    expect(Buffer.from(output).toString("hex")).toBe("c3a90a00ff010203")
  })

  test("is resized on its terminal", async () => {
    const terminal = { cols: 80, rows: 24 }
    const id = await start({ argv: ["cat"], terminal })
    await http.call(methods.resize.result, "POST", `/executions/${id}/resize`, {
      cols: 99,
      rows: 9,
    })
    const view = await http.call(ExecutionView, "GET", `/executions/${id}`)
    await http.ask("POST", `/executions/${id}/control`, { type: "CANCEL" })
    expect(view.terminal).toEqual({ cols: 99, rows: 9 })
  })

  test("has a receipt, a transcript, and a verdict on what is claimed of it", async () => {
    const { execution_id: id } = await finished({ command: "echo proven" })
    await http.call(methods.receipt.result, "GET", `/executions/${id}/receipt`)
    const read = methods["transcript.read"].result
    const page = await http.call(read, "GET", `/executions/${id}/transcript`)
    const verify = methods["transcript.verify"].result
    const verdict = await http.call(verify, "POST", `/executions/${id}/verify`, {
      contains: "proven",
    })

    expect(page.chunks.map(({ data }) => data)).toEqual(["proven\n"])
    expect(verdict).toMatchObject({ verified: true, chain: "intact", where: { sequence: 0 } })
    const plain = await http.call(verify, "POST", `/executions/${id}/verify`)
    expect(plain).toEqual({ verified: true, chain: "intact" })
  })

  test("is told of, as it changes, to who watches", async () => {
    using events = await EventTalk.open(http, "/events?label=watched:yes")
    await finished({ command: "true" })
    const leavesOneBehind = ["sh", "-c", "sleep 1 &"]
    const labels = { watched: "yes" }
    const { execution_id } = await finished({ argv: leavesOneBehind, labels })
    await until("its end", () => events.events.some(({ data }) => stateOf(data) === "ended"))

    const told = events.events.map(({ event, data }) => ({ event, ...aboutOf(data) }))
    expect(new Set(told.map((one) => one.execution_id))).toEqual(new Set([execution_id]))
    expect(told.every(({ event }) => event === "state")).toBe(true)
    expect(told.map(({ state }) => state)).toEqual(["running", "draining", "ended"])
  })
})

describe("what is wrong with a request", () => {
  test("is said with a fitting status and the protocol's names", async () => {
    const running = await start({ argv: ["cat"], stdin: "pipe" })
    const at = `/executions/${running}`
    const missing = `/executions/${"a".repeat(26)}`
    const input = { data: "x".repeat(mebibyte + 1) }
    const wrong: [string, string, unknown, number, string][] = [
      ["POST", "/executions", {}, 400, "INVALID_PARAMS"],
      ["POST", "/executions", [], 400, "INVALID_PARAMS"],
      ["POST", "/executions", { argv: ["no-such-program"] }, 422, "SPAWN_FAILED"],
      ["POST", "/executions", { command: "a", on_disconnect: "cancel" }, 400, "INVALID_PARAMS"],
      ["POST", "/executions", { command: "x".repeat(9 * mebibyte) }, 413, "INVALID_REQUEST"],
      ["GET", "/executions?limit=0", undefined, 400, "INVALID_PARAMS"],
      ["GET", "/executions?limit=x", undefined, 400, "INVALID_PARAMS"],
      ["GET", "/executions?state=x", undefined, 400, "INVALID_PARAMS"],
      ["GET", "/executions?cursor=x", undefined, 400, "INVALID_PARAMS"],
      ["GET", "/executions?label=x", undefined, 400, "INVALID_PARAMS"],
      ["GET", missing, undefined, 404, "PROCESS_NOT_FOUND"],
      ["DELETE", missing, undefined, 404, "PROCESS_NOT_FOUND"],
      ["DELETE", at, undefined, 409, "WRONG_STATE"],
      ["GET", `${at}/receipt`, undefined, 409, "WRONG_STATE"],
      ["GET", `${at}/output?from=nonsense`, undefined, 400, "INVALID_PARAMS"],
      ["GET", `${at}/output?follow=maybe`, undefined, 400, "INVALID_PARAMS"],
      ["GET", `${at}/transcript?limit_bytes=0`, undefined, 400, "INVALID_PARAMS"],
      ["POST", `${at}/control`, { type: "STOP" }, 400, "INVALID_PARAMS"],
      ["POST", `${at}/resize`, { cols: 1, rows: 1 }, 409, "WRONG_STATE"],
      ["POST", `${at}/input`, { data: "a", encoding: "base64" }, 400, "INVALID_PARAMS"],
      ["POST", `${at}/input`, input, 413, "INVALID_PARAMS"],
      ["POST", `${at}/input`, { data: "a", offset: 5 }, 400, "INVALID_PARAMS"],
      ["GET", "/nowhere", undefined, 404, "METHOD_NOT_FOUND"],
      ["PUT", "/executions", {}, 404, "METHOD_NOT_FOUND"],
      ["GET", "/executions/..%2f..%2fetc", undefined, 404, "PROCESS_NOT_FOUND"],
      ["GET", "/ws/mcp", undefined, 400, "INVALID_REQUEST"],
    ]
    for (const [method, path, body, status, reason] of wrong) {
      const refusal = await http.refused(method, path, body)
      const { status: gotStatus, reason: gotReason } = refusal
      const got = { method, path, status: gotStatus, reason: gotReason }
      expect(got).toEqual({ method, path, status, reason })
    }
    await http.ask("POST", `${at}/control`, { type: "CANCEL" })
  })

  test("is said of a body that is not JSON, or not said to be", async () => {
    const post = async (type: string, body: string | Uint8Array<ArrayBuffer>) => {
      const headers = { "Content-Type": type }
      return refusalOf(await http.fetch("/executions", { method: "POST", headers, body }))
    }
    const json = "application/json"
    expect(await post(json, "{")).toMatchObject({ status: 400, reason: "PARSE_ERROR" })
    expect(await post(json, Uint8Array.of(0x7b, 0xff, 0x7d))).toMatchObject({ status: 400 })
    expect(await post("text/plain", "{}")).toMatchObject({ status: 415 })
    const form = "application/x-www-form-urlencoded"
    expect(await post(form, "command=id")).toMatchObject({ status: 415 })
  })
})

describe("the service itself", () => {
  test("says that it is alive and ready", async () => {
    for (const path of ["/health", "/healthz"]) {
      const response = await http.fetch(path)
      expect(await response.json()).toMatchObject({ status: "ok", sessions: 0 })
    }
    expect(await (await http.fetch("/readyz")).json()).toEqual({ ready: true })
    expect((await http.fetch("/health", { method: "HEAD" })).status).toBe(200)
  })

  test("describes every route it has", async () => {
    const document = z
      .object({
        openapi: z.string(),
        paths: z.record(z.string(), z.record(z.string(), z.unknown())),
      })
      .parse(await (await http.fetch("/openapi.json")).json())

    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    )
    const served = endpoints.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    )
    expect(document.openapi).toStartWith("3.1")
    expect(described.toSorted()).toEqual(served.toSorted())
  })

  test(
    "answers the same over its unix socket, whatever Host is said",
    async () => {
      const socket = join(service.stateDir, "gateway.sock")
      const local = new HttpTalk("http://anything", socket)
      const { execution_id: id } = await local.call(ExecuteResult, "POST", "/executions", {
        command: "echo local",
      })
      const output = await local.fetch(`/executions/${id}/output`)
      expect(await output.text()).toBe("local\n")
      const missing = await local.refused("GET", `/executions/${"a".repeat(26)}`)
      expect(missing).toMatchObject({ status: 404, reason: "PROCESS_NOT_FOUND" })
    },
    timeoutMs,
  )
})

const About = z.object({ execution_id: z.string(), state: z.string() })

function aboutOf(data: unknown): z.infer<typeof About> {
  return About.parse(data)
}

function stateOf(data: unknown): string {
  return aboutOf(data).state
}
