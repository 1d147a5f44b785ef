import { describe, expect, test } from "bun:test"
import { serveHttpClients } from "../../../src/bridge/clients/http-clients.ts"
import { targetLimits } from "../../../src/bridge/targets/target-opener.ts"
import { ok } from "../../../src/lib/result.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { recordedTargets } from "../../support/recorded-targets.ts"
import { until } from "../../support/until.ts"

function serve(connections = 10) {
  const targets = recordedTargets()
  const served = serveHttpClients({
    address: { scheme: "http", host: "127.0.0.1", port: 0, path: null },
    guard: () => ok(null),
    openTarget: targets.open,
    limits: targetLimits(64 * 1024),
    connections,
    idleMs: 60_000,
    log: new QuietLog(),
  })
  if (!served.ok) throw new Error(served.failure)
  const listening = served.value
  const post = (message: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(listening.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal === undefined ? {} : { signal }),
    })
  return { opened: targets.opened, post, [Symbol.asyncDispose]: () => listening.close() }
}

const revision = "2026-07-28"

function ping(id: number) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  return { id, method: "ping", params: { _meta } }
}

const pingHeaders = { "mcp-protocol-version": revision, "mcp-method": "ping" }

describe("a client that leaves before its initialize is answered", () => {
  test("leaves no session behind", async () => {
    await using bridge = serve()
    const leaving = new AbortController()

    const posted = bridge.post({ id: 1, method: "initialize" }, {}, leaving.signal)
    await until("it is asked", () => bridge.opened[0]?.sent.length === 1)
    leaving.abort()
    await posted.catch(() => undefined)

    await until("its target is closed", () => bridge.opened[0]?.isClosed === true)
  })
})

describe("a request of revision 2026-07-28", () => {
  test("that a server answers without an id leaves no connection for the next one", async () => {
    await using bridge = serve()

    const first = bridge.post(ping(1), pingHeaders)
    await until("it is asked", () => bridge.opened[0]?.sent.length === 1)
    await bridge.opened[0]?.say({ id: null, error: { code: -32600, message: "What?" } })
    const answered = await first
    const second = bridge.post(ping(2), pingHeaders)
    await until("the next is asked", () => bridge.opened[1]?.sent.length === 1)
    await bridge.opened[0]?.say({ id: 1, result: { late: true } })
    await bridge.opened[1]?.say({ id: 2, result: {} })

    expect(await answered.json()).toMatchObject({ id: null, error: { message: "What?" } })
    expect(await (await second).json()).toEqual({ jsonrpc: "2.0", id: 2, result: {} })
    expect(bridge.opened[0]?.isClosed).toBe(true)
  })
})
