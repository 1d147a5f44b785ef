import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { MethodName } from "../../src/protocol/methods.ts"
import { methods } from "../../src/protocol/methods.ts"
import { endpoints } from "../../src/service/transports/http/endpoints.ts"
import { refusalOf } from "../support/http-talk.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken } from "../support/tokens.ts"

let service: Service
const tokens: Record<string, string> = {}

beforeAll(async () => {
  service = await Service.start()
  for (const [name, scope] of [
    ["alice", "execute,control,read"],
    ["bob", "execute,control,read"],
    ["reader", "read"],
    ["starter", "execute"],
    ["boss", "admin"],
  ] as const) {
    tokens[name] = await makeToken(service.stateDir, { name, scope })
  }
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function sessionOf(name: string): Promise<RawSession> {
  return RawSession.open(await service.url(), bearing(tokens[name] ?? ""))
}

async function ask(name: string, method: string, path: string, body?: unknown): Promise<Response> {
  const { headers } = bearing(tokens[name] ?? "")
  const json = { ...headers, "Content-Type": "application/json" }
  const sent = body === undefined ? { headers } : { headers: json, body: JSON.stringify(body) }
  return fetch(await service.url(path), { method, ...sent })
}

/** Every method that is about one execution, with parameters that would do something. */
function requestsAbout(execution_id: string): [MethodName, object][] {
  return [
    ["status", { execution_id }],
    ["attach", { execution_id }],
    ["control", { type: "PAUSE", execution_id }],
    ["control", { type: "CANCEL", execution_id }],
    ["control", { type: "SIGNAL", signal: "HUP", execution_id }],
    ["input", { execution_id, data: "x" }],
    ["resize", { execution_id, cols: 80, rows: 24 }],
    ["detach", { execution_id }],
    ["ack", { execution_id, next: "1.0.0.0.0.0" }],
    ["remove", { execution_id }],
    ["receipt", { execution_id }],
    ["screen", { execution_id }],
    ["transcript.read", { execution_id }],
    ["transcript.search", { execution_id, text: "x" }],
    ["transcript.verify", { execution_id }],
    ["agent.start", { resume: execution_id === "" ? "none" : execution_id }],
    ["agent.send", { execution_id, text: "x" }],
    ["agent.answer", { execution_id, question_id: "q1", behavior: "allow" }],
    ["agent.interrupt", { execution_id }],
    ["agent.end", { execution_id }],
    ["agent.configure", { execution_id, model: "x" }],
    ["agent.status", { execution_id }],
    ["agent.changes", { execution_id }],
    ["agent.take", { execution_id }],
    ["agent.drop", { execution_id, force: true }],
  ]
}

function pathsAbout(id: string): [string, string, object?][] {
  return [
    ["GET", `/executions/${id}`],
    ["DELETE", `/executions/${id}`],
    ["POST", `/executions/${id}/control`, { type: "CANCEL" }],
    ["POST", `/executions/${id}/input`, { data: "x" }],
    ["POST", `/executions/${id}/resize`, { cols: 80, rows: 24 }],
    ["GET", `/executions/${id}/output`],
    ["GET", `/executions/${id}/transcript`],
    ["GET", `/executions/${id}/search?text=x`],
    ["GET", `/executions/${id}/receipt`],
    ["GET", `/executions/${id}/screen`],
    ["POST", `/executions/${id}/verify`, {}],
    ["GET", `/agents/${id}`],
    ["POST", `/agents/${id}/turns`, { text: "x" }],
    ["POST", `/agents/${id}/answers`, { question_id: "q1", behavior: "allow" }],
    ["POST", `/agents/${id}/interrupt`, {}],
    ["POST", `/agents/${id}/end`, {}],
    ["POST", `/agents/${id}/configure`, { model: "x" }],
    ["GET", `/agents/${id}/changes`],
    ["POST", `/agents/${id}/take`, {}],
    ["POST", `/agents/${id}/drop`, {}],
    ["GET", `/agents/${id}/events`],
  ]
}

const nobodys = "a".repeat(26)

test("what follows covers every method and every route about an execution", () => {
  const asked = new Set(requestsAbout("").map(([method]) => method))
  const others = ["agent.inbox", "execute", "list", "notify.list", "notify.test", "watch"]
  const elsewhere = Object.keys(methods).filter((name) => /^(?:trial|node)\./.test(name))
  expect([...asked, ...others, ...elsewhere].toSorted()).toEqual(Object.keys(methods).toSorted())

  const paths = pathsAbout(":id").map(
    ([method, path]) => `${method.toLowerCase()} ${path.replace(/\?.*/, "")}`,
  )
  const routes = endpoints.map(({ method, path }) => `${method} ${path}`)
  const about = routes.filter((route) => route.includes(":id") && !route.includes("/trials/"))
  expect(paths.toSorted()).toEqual(about.toSorted())
})

describe("somebody else's execution", () => {
  test("does not exist, by any method or route, live or ended", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    const names = { live: { name: "hers-live" }, ended: { name: "hers-ended" } }
    const request = { command: "cat", stdin: "pipe", labels: names.live } as const
    const live = await alice.call("execute", request)
    const ended = await alice.run({ command: "echo secret", labels: names.ended })

    for (const id of [live.execution_id, ended.id, names.live.name, names.ended.name]) {
      for (const [method, params] of requestsAbout(id)) {
        const refused = await bob.refused(method, params)
        expect([method, refused.data.reason]).toEqual([method, "PROCESS_NOT_FOUND"])
      }
      for (const [method, path, body] of pathsAbout(id)) {
        const refused = await refusalOf(await ask("bob", method, path, body))
        expect([method, path, refused.status]).toEqual([method, path, 404])
      }
    }
    expect((await alice.call("status", { execution_id: live.execution_id })).state).toBe("running")
    await alice.call("control", { type: "CANCEL", execution_id: live.execution_id })
  })

  test("cannot be told from one that never was: the same words, also by name", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    const name = "told-to-nobody"
    const { id } = await alice.run({ command: "true", labels: { name } })
    for (const beginning of [id, id.slice(0, 6), name]) {
      const none = nobodys.slice(0, beginning.length)
      const [about] = requestsAbout(beginning)
      const [aboutNone] = requestsAbout(none)
      const theirs = await bob.refused(about?.[0] ?? "", about?.[1])
      const nothing = await bob.refused(aboutNone?.[0] ?? "", aboutNone?.[1])
      expect(theirs.message.replace(beginning, "ID")).toBe(nothing.message.replace(none, "ID"))
      expect(theirs.data).toEqual(nothing.data)
    }
  })

  test("is neither listed nor watched, and its key is nobody else's", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    await bob.call("watch", {})
    const first = await alice.run({ command: "echo mine", idempotency_key: "same" })
    const second = await bob.run({ command: "echo mine", idempotency_key: "same" })

    const listed = (await bob.call("list", { limit: 1000 })).executions
    expect(second.id).not.toBe(first.id)
    expect(new Set(listed.map(({ principal }) => principal))).toEqual(new Set(["bob"]))
    expect(bob.said.filter(({ executionId }) => executionId === first.id)).toEqual([])
    const http = await (await ask("bob", "GET", "/executions?limit=1000")).json()
    expect(JSON.stringify(http)).not.toContain(first.id)
  })

  test("is seen and steered by an admin", async () => {
    using alice = await sessionOf("alice")
    using boss = await sessionOf("boss")
    const { execution_id } = await alice.call("execute", { command: "sleep 1000" })

    expect((await boss.call("status", { execution_id })).principal).toBe("alice")
    const canceled = await boss.call("control", { type: "CANCEL", execution_id })
    expect(canceled.status).toBe("canceled")
  })
})

describe("an execution that is shared", () => {
  test("can be read by whom its label names, and steered by nobody", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    using reader = await sessionOf("reader")
    const labels = { share: "bob, carol" }
    const { execution_id } = await alice.call("execute", { command: "cat", stdin: "pipe", labels })

    expect((await bob.call("status", { execution_id })).state).toBe("running")
    expect((await bob.call("attach", { execution_id })).state).toBe("running")
    const pause = { type: "PAUSE", execution_id } as const
    expect((await bob.refused("control", pause)).data.reason).toBe("FORBIDDEN")
    expect((await bob.refused("attach", { execution_id, role: "driver" })).data.reason).toBe(
      "FORBIDDEN",
    )
    expect((await bob.call("list", {})).executions.map((one) => one.execution_id)).toContain(
      execution_id,
    )
    expect((await reader.refused("status", { execution_id })).data.reason).toBe("PROCESS_NOT_FOUND")
    await alice.call("control", { type: "CANCEL", execution_id })
  })

  test("for control can be steered, by those who have the scope for it", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    using reader = await sessionOf("reader")
    const labels = { "share-control": "*" }
    const { execution_id } = await alice.call("execute", { command: "sleep 1000", labels })

    const cancel = { type: "CANCEL", execution_id } as const
    expect((await reader.call("status", { execution_id })).state).toBe("running")
    expect((await reader.refused("control", cancel)).data.reason).toBe("FORBIDDEN")
    expect((await bob.call("control", cancel)).status).toBe("canceled")
  })

  test("for control is steered by a guest, but removed by its owner alone", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    const labels = { "share-control": "bob" }
    const { execution_id } = await alice.call("execute", { command: "cat", stdin: "pipe", labels })

    expect((await bob.call("control", { type: "PAUSE", execution_id })).status).toBe("paused")
    expect((await bob.call("control", { type: "RESUME", execution_id })).status).toBe("resumed")
    expect((await bob.call("input", { execution_id, data: "hi\n" })).accepted).toBe(3)
    expect((await bob.call("attach", { execution_id, role: "driver" })).state).toBe("running")
    const hangUp = { type: "SIGNAL", signal: "HUP", execution_id } as const
    expect((await bob.call("control", hangUp)).status).toBe("signaled")
    await alice.heard("process.completed", execution_id)
    const overSocket = await bob.refused("remove", { execution_id })
    const overHttp = await refusalOf(await ask("bob", "DELETE", `/executions/${execution_id}`))

    expect(overSocket.data.reason).toBe("FORBIDDEN")
    expect(overSocket.message).toContain("belongs to alice")
    expect(overHttp).toMatchObject({ status: 403, reason: "FORBIDDEN" })
    expect((await alice.call("status", { execution_id })).state).toBe("ended")
    expect(await alice.call("remove", { execution_id })).toEqual({})
  })
})

describe("a token of scope read", () => {
  test("cannot execute, control or send input, on any route", async () => {
    using alice = await sessionOf("alice")
    using reader = await sessionOf("reader")
    const labels = { share: "*", "share-control": "*" }
    const { execution_id } = await alice.call("execute", { command: "cat", stdin: "pipe", labels })
    const steering = ["execute", "control", "input", "resize", "remove"]

    for (const [method, params] of [
      ["execute", { command: "id" }] as const,
      ...requestsAbout(execution_id).filter(([name]) => steering.includes(name)),
    ]) {
      const refused = await reader.refused(method, params)
      expect([method, refused.data.reason, refused.code]).toEqual([method, "FORBIDDEN", -32007])
    }
    for (const [method, path, body] of [
      ["POST", "/executions", { command: "id" }] as const,
      ...pathsAbout(execution_id).filter(
        ([verb, route]) => verb !== "GET" && !/verify/.test(route),
      ),
    ]) {
      const refused = await refusalOf(await ask("reader", method, path, body))
      expect([path, refused.status, refused.reason]).toEqual([path, 403, "FORBIDDEN"])
    }
    expect((await reader.call("list", {})).executions).toHaveLength(
      (await reader.call("list", { limit: 1000 })).executions.length,
    )
    await alice.call("control", { type: "CANCEL", execution_id })
  })
})

describe("a token of scope execute alone", () => {
  test("starts things and gets their output, and can look at nothing", async () => {
    using starter = await sessionOf("starter")
    const run = await starter.run({ command: "echo started" })

    expect(run.stdout).toBe("started\n")
    const status = await starter.refused("status", { execution_id: run.id })
    expect(status.data.reason).toBe("FORBIDDEN")
    expect((await starter.refused("list", {})).data.reason).toBe("FORBIDDEN")
    expect((await starter.refused("watch", {})).data.reason).toBe("FORBIDDEN")
  })

  test("ends its own subscription, and acknowledges for it, by the whole id", async () => {
    using starter = await sessionOf("starter")
    const { execution_id } = await starter.call("execute", { command: "cat", stdin: "pipe" })
    const beginning = { execution_id: execution_id.slice(0, 12) }

    expect((await starter.refused("detach", beginning)).data.reason).toBe("FORBIDDEN")
    expect(await starter.call("ack", { execution_id, next: "1.0.0.0.0.0" })).toEqual({})
    expect(await starter.call("detach", { execution_id })).toEqual({})

    using boss = await sessionOf("boss")
    await boss.call("control", { type: "CANCEL", execution_id })
  })
})
