import { describe, expect, test } from "bun:test"
import type { AnswerMessage, Fields, RequestMessage } from "../../../src/bridge/messages/message.ts"
import { Breaker } from "../../../src/bridge/targets/breaker.ts"
import { decideRetry } from "../../../src/bridge/targets/http/decide-retry.ts"
import type { Outcome } from "../../../src/bridge/targets/http/http-exchange.ts"
import { KnownTarget } from "../../../src/bridge/targets/known-target.ts"
import {
  type PendingRequest,
  PendingRequests,
} from "../../../src/bridge/targets/pending-requests.ts"
import { systemClock, targetLimits } from "../../../src/bridge/targets/target-opener.ts"
import { QuietLog } from "../../support/quiet-log.ts"

const tools = [
  { name: "plain" },
  { name: "once", annotations: { idempotentHint: false } },
  { name: "read", annotations: { idempotentHint: false, readOnlyHint: true } },
  { name: "twice", annotations: { idempotentHint: true } },
]

function target(isOurs = false): KnownTarget {
  const known = new KnownTarget("target", new Breaker({ failures: 9, waitMs: 1 }, () => 0), isOurs)
  known.learn(request("tools/list"), answer({ tools }))
  return known
}

function request(method: string, params: Fields = {}): RequestMessage {
  return { kind: "request", text: "", id: 1, key: "1", method, params }
}

function answer(result: Fields): AnswerMessage {
  return { kind: "answer", text: "", key: "1", result, error: null }
}

function sent(
  method: string,
  params: Fields = {},
  more: Partial<PendingRequest> = {},
): PendingRequest {
  const added = pendingRequests().add(request(method, params))
  if (!added.ok) throw new Error(added.failure.message)
  return { ...added.value, sends: 1, ...more }
}

function pendingRequests(messages = 9): PendingRequests {
  const context = {
    target: target(),
    retry: { tries: 5, forMs: 1_000, firstDelayMs: 1, maxDelayMs: 1 },
    limits: { ...targetLimits(1_024), messages },
    clock: systemClock,
    log: new QuietLog(),
    callMeta: () => ({}),
  }
  return new PendingRequests(context, async () => undefined)
}

const reset = "closed (1006)"

describe("a request whose connection is lost before an answer", () => {
  test.each(["plain", "read", "twice", "never-heard-of"])("calling %s is sent again", (name) => {
    expect(target().whyNotResent(sent("tools/call", { name }), reset, 5)).toBeNull()
  })

  test("calling a tool that says twice is not once is not, and the error says so", () => {
    const problem = target().whyNotResent(sent("tools/call", { name: "once" }), reset, 5)

    expect(problem).toMatchObject({ reason: "MAY_HAVE_BEEN_DONE" })
    expect(problem?.message).toMatch(/once.*may have been carried out.*not sent again/s)
  })

  test("is not sent again when its progress has been told", () => {
    const begun = sent("tools/call", { name: "plain" }, { hasBegun: true })

    expect(target().whyNotResent(begun, reset, 5)).toMatchObject({ reason: "CONNECTION_LOST" })
  })

  test("is given up after so many times", () => {
    const often = sent("tools/list", {}, { sends: 5 })

    expect(target().whyNotResent(often, reset, 5)?.message).toContain("5 times")
  })

  test("is always asked again when it is a stream of news", () => {
    const stream = sent("subscriptions/listen", {}, { sends: 99, hasBegun: true })

    expect(target().whyNotResent(stream, reset, 5)).toBeNull()
  })
})

describe("the requests of a client", () => {
  test("are settled when all are answered that will be", async () => {
    const requests = pendingRequests()
    let isSettled = false
    const asked = requests.add(request("tools/call"))
    requests.add({ ...request("subscriptions/listen"), key: "2" })
    const settling = requests.settled().finally(() => {
      isSettled = true
    })
    await Promise.resolve()
    expect(isSettled).toBe(false)

    if (asked.ok) requests.remove(asked.value)
    await settling

    expect(requests.size).toBe(1)
  })

  test("are refused past their bound, and with an id that is in use", () => {
    const requests = pendingRequests(1)
    requests.add(request("ping"))

    const again = requests.add(request("ping"))
    const another = requests.add({ ...request("ping"), key: "2" })

    expect(again).toMatchObject({ ok: false, failure: { reason: "DUPLICATE_ID" } })
    expect(another).toMatchObject({ ok: false, failure: { reason: "TOO_MANY" } })
  })
})

describe("a cc-executor, which starts things once by their key", () => {
  const lost = (name: string, args: Fields = {}) =>
    target(true).whyNotResent(
      sent("tools/call", { name, arguments: args }, { hasBegun: true }),
      reset,
      5,
    )

  test("is sent calls again, also after their progress", () => {
    expect(lost("once")).toBeNull()
    expect(lost("run")).toBeNull()
    expect(lost("input", { offset: 0 })).toBeNull()
  })

  test("is not sent a second signal, nor input that does not say its place", () => {
    expect(lost("signal")).not.toBeNull()
    expect(lost("input", { text: "yes\n" })).not.toBeNull()
  })

  test.each([
    ["initialize", { serverInfo: { name: "cc-executor", version: "1" } }],
    [
      "server/discover",
      { _meta: { "io.modelcontextprotocol/serverInfo": { name: "cc-executor" } } },
    ],
  ])("is known by its answer to %s", (method, result) => {
    const known = target()

    known.learn(request(method), answer(result))

    expect(known.isOurs).toBe(true)
  })
})

describe("an answer over HTTP", () => {
  const decide = (outcome: Outcome, name = "plain") =>
    decideRetry(sent("tools/call", { name }), outcome, target(), 5)
  const busy = (status: number): Outcome => {
    return { kind: "busy", status, why: `${status}`, retryAfterMs: null }
  }

  test.each<[string, Outcome]>([
    ["a connection that was refused", { kind: "unsent", why: "ECONNREFUSED" }],
    ["502", busy(502)],
    ["503", busy(503)],
    ["504", busy(504)],
    ["a reset before any byte", { kind: "cut", why: "reset" }],
  ])("%s is tried again", (_, outcome) => {
    expect(decide(outcome).kind).toBe("again")
  })

  test.each([400, 401, 403, 500])("%d is final", (status) => {
    expect(decide({ kind: "refused", status, why: `${status}` }).kind).toBe("fail")
  })

  test("404 is final too, unless there was a session to open again", () => {
    expect(decide({ kind: "refused", status: 404, why: "" }).kind).toBe("unknown-session")
  })

  test.each<[string, Outcome]>([
    ["502", busy(502)],
    ["504", busy(504)],
    ["a reset", { kind: "cut", why: "reset" }],
  ])("%s ends a call whose tool says twice is not once", (_, outcome) => {
    const decision = decide(outcome, "once")
    expect(decision).toMatchObject({ kind: "fail", why: { reason: "MAY_HAVE_BEEN_DONE" } })
  })

  test("503 and a refused connection do not: nothing was carried out", () => {
    expect(decide(busy(503), "once").kind).toBe("again")
    expect(decide({ kind: "unsent", why: "ECONNREFUSED" }, "once").kind).toBe("again")
  })

  test("a reset after bytes is told", () => {
    const cut: Outcome = { kind: "broken", why: "closed", lastEventId: null, retryMs: null }
    expect(decide(cut)).toMatchObject({ kind: "fail", why: { reason: "CONNECTION_LOST" } })
  })
})

describe("arguments that a tool wants in headers", () => {
  test("are taken from calls of it", () => {
    const known = target()
    const schema = {
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        deep: { properties: { count: { type: "integer", "x-mcp-header": "Count" } } },
        gone: { type: "string", "x-mcp-header": "Gone" },
        bad: { type: "string", "x-mcp-header": "Bad\r\nName" },
      },
    }
    known.learn(request("tools/list"), answer({ tools: [{ name: "t", inputSchema: schema }] }))

    const args = { region: "São Paulo", deep: { count: 3 }, bad: "x" }
    const headers = known.headersFor(request("tools/call", { name: "t", arguments: args }))

    expect(headers).toEqual({
      "mcp-param-Region": `=?base64?${Buffer.from("São Paulo").toString("base64")}?=`,
      "mcp-param-Count": "3",
    })
  })
})
