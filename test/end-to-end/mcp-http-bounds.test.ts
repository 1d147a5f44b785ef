import { describe, expect, test } from "bun:test"
import { mcpUrl } from "../support/mcp-clients.ts"
import { sendModern } from "../support/modern-mcp.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

type Options = { headers?: Record<string, string>; signal?: AbortSignal }

type Send = (
  service: Service,
  name: string,
  args: Record<string, unknown>,
  options?: Options,
) => Promise<Response>

/** In the modern era an answer is no stream at first, and may never become one. */
const eras: Record<string, Send> = {
  legacy: (service, name, args, options) =>
    post(
      service,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      options,
    ),
  modern: (service, name, args, options) =>
    sendModern(service, "tools/call", { name, arguments: args }, options),
  "modern, told of progress": (service, name, args, options) =>
    sendModern(
      service,
      "tools/call",
      { name, arguments: args },
      { ...options, meta: { progressToken: "p" } },
    ),
}

describe.each(Object.entries(eras))("over HTTP, %s", (_, send) => {
  test("a call for which there is no place starts nothing", async () => {
    await using service = await Service.start({ flags: { "max-sessions": "2" } })
    using owner = await RawSession.open((await service.listening).href)
    const goneAway = new AbortController()
    const options = { signal: goneAway.signal }
    const held = ["sleep 31", "sleep 32"].map((command) =>
      send(service, "run", { command }, options).then(
        (response) => response.text(),
        () => "",
      ),
    )
    await until("both run", async () => (await commands(owner)).length === 2)

    const refused = await send(service, "run", { command: "sleep 33" })
    const text = await refused.text()

    expect(refused.status).toBe(503)
    expect(text).toContain("SESSION_LIMIT")
    expect(await commands(owner)).toHaveLength(2)
    goneAway.abort()
    await Promise.allSettled(held)
    await until("their places are given back", async () => {
      const answer = await send(service, "list", {})
      await answer.text()
      return answer.status === 200
    })
  })

  test("answers give their places back", async () => {
    await using service = await Service.start({ flags: { "max-sessions": "1" } })

    for (let round = 0; round < 5; round++) {
      const good = await send(service, "run", { command: "true" })
      expect(await good.text()).toContain('"succeeded":true')
      const bad = await send(service, "wait", { execution_id: "zzzzzzzz" })
      expect(await bad.text()).toContain("PROCESS_NOT_FOUND")
    }
  })

  test("a token that is revoked ends a call that is under way, and says why", async () => {
    await using service = await Service.start()
    using owner = await RawSession.open((await service.listening).href)
    const token = await makeToken(service.stateDir, { name: "agent", scope: "execute,read" })
    const answer = send(service, "run", { command: "sleep 45" }, bearing(token))
    const whole = answer.then(async (response) => ({
      status: response.status,
      text: await response.text(),
    }))
    await until("it runs", async () => (await commands(owner)).length === 1)

    await revokeToken(service.stateDir, "agent")
    const revokedMs = performance.now()
    const { text } = await whole

    expect(text).toContain("UNAUTHORIZED")
    expect(performance.now() - revokedMs).toBeLessThan(20_000)
    expect(await commands(owner)).toEqual(["sleep 45"]) // what it started goes on
  })
})

test("a modern call of a revoked token, not answered yet, is refused with 401", async () => {
  await using service = await Service.start()
  using owner = await RawSession.open((await service.listening).href)
  const token = await makeToken(service.stateDir, { name: "agent", scope: "execute,read" })
  const params = { name: "run", arguments: { command: "sleep 46" } }
  const answer = sendModern(service, "tools/call", params, bearing(token))
  await until("it runs", async () => (await commands(owner)).length === 1)

  await revokeToken(service.stateDir, "agent")
  const refused = await answer

  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ error: { data: { reason: "UNAUTHORIZED" } } })
})

test("a batch is refused, and nothing of it is done", async () => {
  await using service = await Service.start()
  using owner = await RawSession.open((await service.listening).href)
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "start", arguments: { command: "true" } },
  })

  const refused = await post(service, [call(1), call(2)])

  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, data: { reason: "INVALID_REQUEST" } },
  })
  expect(await commands(owner)).toEqual([])
})

async function post(service: Service, body: unknown, options: Options = {}): Promise<Response> {
  const { headers, ...rest } = options
  return fetch(await mcpUrl(service), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
    ...rest,
  })
}

async function commands(owner: RawSession): Promise<unknown[]> {
  const { executions } = await owner.call("list", {})
  return executions.map(({ command }) => command)
}
