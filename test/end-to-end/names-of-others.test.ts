import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { z } from "zod"
import { McpTalk } from "../support/mcp-talk.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken } from "../support/tokens.ts"

setDefaultTimeout(60_000)

let service: Service
const tokens: Record<string, string> = {}

beforeAll(async () => {
  service = await Service.start()
  for (const name of ["alice", "bob", "carol"]) {
    tokens[name] = await makeToken(service.stateDir, { name, scope: "execute,control,read" })
  }
  tokens["boss"] = await makeToken(service.stateDir, { name: "boss", scope: "admin" })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function sessionOf(name: string): Promise<RawSession> {
  return RawSession.open(await service.url(), bearing(tokens[name] ?? ""))
}

async function started(session: RawSession, labels: Record<string, string>): Promise<string> {
  const request = { command: "cat", stdin: "pipe", labels } as const
  return (await session.call("execute", request)).execution_id
}

async function idOf(session: RawSession, name: string): Promise<string> {
  return (await session.call("status", { execution_id: name })).execution_id
}

describe("a name that several principals use", () => {
  test("is refused to none of them, and each means its own", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    using boss = await sessionOf("boss")

    const hers = await started(alice, { name: "both" })
    const his = await started(bob, { name: "both" })

    expect([await idOf(alice, "both"), await idOf(bob, "both")]).toEqual([hers, his])
    const { message, data } = await boss.refused("status", { execution_id: "both" })
    expect(data).toEqual({ reason: "PROCESS_NOT_FOUND", candidates: [his, hers] })
    expect(message).toContain(`${his} of bob, ${hers} of alice. Use the id.`)
    const bosses = await started(boss, { name: "both" })
    expect(await idOf(boss, "both")).toBe(bosses)
  })

  test("means what is shared where one has none of one's own, live before ended", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    using carol = await sessionOf("carol")
    const ended = await alice.run({ command: "true", labels: { name: "team", share: "*" } })
    expect(await idOf(carol, "team")).toBe(ended.id)

    const live = await started(bob, { name: "team", share: "carol" })
    expect(await idOf(carol, "team")).toBe(live)
    await bob.call("control", { type: "CANCEL", execution_id: "team" })
    await carol.call("attach", { execution_id: live })
    await carol.heard("process.completed")
    const { candidates } = (await carol.refused("status", { execution_id: "team" })).data
    expect(candidates).toEqual([live, ended.id])

    const own = await carol.run({ command: "true", labels: { name: "team" } })
    await started(bob, { name: "team", share: "*" })
    expect(await idOf(carol, "team")).toBe(own.id)
  })

  test("cannot be chosen so that it is taken for the id of another", async () => {
    using alice = await sessionOf("alice")
    using bob = await sessionOf("bob")
    const hers = await started(alice, {})
    const trap = await started(bob, { name: hers.slice(0, 8), "share-control": "*" })

    const input = { execution_id: hers.slice(0, 8), data: "secret" }
    const { candidates } = (await alice.refused("input", input)).data

    expect(candidates).toEqual([trap, hers])
    expect((await alice.call("input", { ...input, execution_id: hers })).accepted).toBe(6)
  })
})

describe("a name", () => {
  test("stands in paths, whatever it consists of", async () => {
    using alice = await sessionOf("alice")
    const name = "back up/site: 100%?#é"
    const id = await started(alice, { name })
    const path = `/executions/${encodeURIComponent(name)}`
    const send = async (rest: string, init: RequestInit = {}) => {
      const headers = { ...bearing(tokens["alice"] ?? "").headers }
      const json = init.body === undefined ? {} : { "Content-Type": "application/json" }
      const url = await service.url(`${path}${rest}`)
      return fetch(url, { ...init, headers: { ...headers, ...json } })
    }
    const post = (rest: string, body: object) =>
      send(rest, { method: "POST", body: JSON.stringify(body) })

    expect(await (await send("")).json()).toMatchObject({ execution_id: id })
    expect(await (await post("/input", { data: "hello\n", end: true })).json()).toMatchObject({
      accepted: 6,
    })
    expect(await (await send("/output")).text()).toBe("hello\n")
    const taken = { command: "true", labels: { name: "taken" } }
    await started(alice, { name: "taken" })
    const refused = await fetch(await service.url("/executions"), {
      method: "POST",
      body: JSON.stringify(taken),
      headers: { ...bearing(tokens["alice"] ?? "").headers, "Content-Type": "application/json" },
    })
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain("NAME_IN_USE")
  })

  test("is what tools and resources of MCP take for an id", async () => {
    await using talk = await McpTalk.open(service, { token: tokens["alice"] ?? "" })
    const call = async (name: string, args: object) => {
      const params = { name, arguments: { ...args } }
      const { result } = await talk.ask({ id: crypto.randomUUID(), method: "tools/call", params })
      return Answer.parse(result)
    }
    const start = { argv: ["cat"], stdin: "pipe", labels: { name: "by mcp" } }
    const { structuredContent } = await call("start", start)
    const id = structuredContent?.["execution_id"]
    const named = { execution_id: "by mcp" }
    const refused = await call("start", { ...start, idempotency_key: "another" })

    expect(refused.content[0]?.text).toStartWith('NAME_IN_USE: The name "by mcp" is in use')
    for (const steered of ["pause", "resume"]) {
      expect((await call(steered, named)).structuredContent).toMatchObject({ execution_id: id })
    }
    expect((await call("wait", { ...named, timeout_s: 0 })).structuredContent).toMatchObject({
      execution_id: id,
      ended: false,
    })
    await call("input", { ...named, text: "hello\n", end: true })
    await call("wait", named)
    expect((await call("output", named)).structuredContent).toMatchObject({ text: "hello\n" })
    const claim = { ...named, contains: "hello" }
    expect((await call("verify", claim)).structuredContent).toMatchObject({ verified: true })
    expect((await call("receipt", named)).structuredContent).toMatchObject({
      receipt: { execution_id: id },
    })
    const uri = "cc-executor://executions/by%20mcp/transcript"
    const read = await talk.ask({ id: "read", method: "resources/read", params: { uri } })
    expect(read.result).toMatchObject({ contents: [{ uri, text: "hello\n" }] })
  })
})

const Answer = z.looseObject({
  content: z.array(z.object({ text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
})
