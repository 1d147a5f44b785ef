import { afterAll, beforeAll, describe, expect, test } from "bun:test"
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

/** With no limits of its own, for what reaches none. */
let service: Service
/** With a single place. */
let narrow: Service
beforeAll(async () => {
  service = await Service.start()
  narrow = await Service.start({ flags: { "max-sessions": "1" } })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await narrow[Symbol.asyncDispose]()
})

describe.each(Object.entries(eras))("over HTTP, %s", (era, send) => {
  test("a call for which there is no place starts nothing", async () => {
    const flags = { "max-sessions": "2", "max-sessions-per-principal": "1" }
    await using crowded = await Service.start({ flags })
    using owner = await RawSession.open((await crowded.listening).href)
    const agent = await makeToken(crowded.stateDir, { name: "agent" })
    const goneAway = new AbortController()
    const held: Promise<string>[] = []
    const hold = (count: number, headers: Record<string, string>) => {
      for (let index = 0; index < count; index++) {
        const options = { headers, signal: goneAway.signal }
        const answer = send(crowded, "run", { command: "sleep 31" }, options)
        held.push(answer.then((response) => response.text()).catch(() => ""))
      }
    }
    const isRunning = async (count: number) => (await commands(owner)).length === count

    hold(8, bearing(agent).headers)
    await until("as many run as one principal may wait for", () => isRunning(8))
    const own = await send(crowded, "run", { command: "sleep 33" }, bearing(agent))
    const ownText = await own.text()
    hold(8, {})
    await until("as many run as all together may wait for", () => isRunning(16))
    const all = await send(crowded, "run", { command: "sleep 33" })
    const allText = await all.text()

    expect([own.status, all.status]).toEqual([429, 503])
    expect(ownText).toContain("RATE_LIMITED")
    expect(allText).toContain("AT_CAPACITY")
    expect(await commands(owner)).toEqual(Array.from({ length: 16 }, () => "sleep 31"))
    goneAway.abort()
    await Promise.allSettled(held)
    await until("their places are given back", async () => {
      const answer = await send(crowded, "list", {})
      await answer.text()
      return answer.status === 200
    })
  })

  test("answers give their places back", async () => {
    for (let round = 0; round < 5; round++) {
      const good = await send(narrow, "run", { command: "true" })
      expect(await good.text()).toContain('"succeeded":true')
      const bad = await send(narrow, "wait", { execution_id: "zzzzzzzz" })
      expect(await bad.text()).toContain("PROCESS_NOT_FOUND")
    }
  })

  test("a token that is revoked ends a call that is under way, and says why", async () => {
    using owner = await RawSession.open((await service.listening).href)
    const labels = { era: era.replace(/\W/g, "-") }
    const name = `agent-${labels.era}`
    const token = await makeToken(service.stateDir, { name, scope: "execute,read" })
    const answer = send(service, "run", { command: "sleep 45", labels }, bearing(token))
    const whole = answer.then(async (response) => ({
      status: response.status,
      text: await response.text(),
    }))
    await using _ = { [Symbol.asyncDispose]: () => cancelAll(owner, labels) }
    await until("it runs", async () => (await commands(owner, labels)).length === 1)

    await revokeToken(service.stateDir, name)
    const revokedMs = performance.now()
    const { text } = await whole

    const [started] = (await owner.call("list", { labels })).executions
    expect(text).toContain("UNAUTHORIZED")
    expect(text).toContain(`Execution ${started?.execution_id} was started`)
    expect(text).toContain('"done":"started"')
    expect(performance.now() - revokedMs).toBeLessThan(20_000)
    expect(started).toMatchObject({ command: "sleep 45", state: "running" }) // it goes on
  })
})

test("calls that wait leave a principal its sessions, and its streams", async () => {
  const flags = { "max-sessions-per-principal": "2", "max-sessions": "3" }
  await using crowded = await Service.start({ flags })
  const token = await makeToken(crowded.stateDir, { name: "agent" })
  const goneAway = new AbortController()
  using first = await RawSession.open(await crowded.url(), bearing(token))
  const { execution_id } = await first.call("execute", { command: "sleep 31" })
  const options = { ...bearing(token), signal: goneAway.signal }
  const waits = Array.from({ length: 10 }, () =>
    sendModern(crowded, "tools/call", { name: "wait", arguments: { execution_id } }, options).then(
      ({ status }) => status,
      () => null,
    ),
  )

  const listed = await sendModern(crowded, "tools/call", { name: "list" }, bearing(token))
  using second = await RawSession.open(await crowded.url(), bearing(token))
  const streams = await Promise.all(
    [1, 2].map(async () => fetch(await crowded.url("/events"), options)),
  )

  expect(listed.status).toBe(200)
  expect((await second.call("status", { execution_id })).state).toBe("running")
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  goneAway.abort()
  expect(await Promise.all(waits)).not.toContain(503)
})

test("a batch is refused, and nothing of it is done", async () => {
  using owner = await RawSession.open((await service.listening).href)
  const labels = { of: "batch" }
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "start", arguments: { command: "true", labels } },
  })

  const refused = await post(service, [call(1), call(2)])

  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, data: { reason: "INVALID_REQUEST" } },
  })
  expect(await commands(owner, labels)).toEqual([])
})

async function post(target: Service, body: unknown, options: Options = {}): Promise<Response> {
  const { headers, ...rest } = options
  return fetch(await mcpUrl(target), {
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

type Labels = Record<string, string>

async function commands(owner: RawSession, labels: Labels = {}): Promise<unknown[]> {
  const { executions } = await owner.call("list", { labels })
  return executions.map(({ command }) => command)
}

async function cancelAll(owner: RawSession, labels: Labels): Promise<void> {
  const { executions } = await owner.call("list", { labels })
  for (const { execution_id, state } of executions) {
    if (state !== "ended") await owner.call("control", { type: "CANCEL", execution_id })
  }
}
