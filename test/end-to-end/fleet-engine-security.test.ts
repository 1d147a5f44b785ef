import { afterAll, beforeAll, describe, expect } from "bun:test"
import { NatsEngine } from "../../src/fleet/engine/nats-engine.ts"
import { IndexEntry, NodeEntry } from "../../src/fleet/entries.ts"
import { cliOf } from "../support/cli-of.ts"
import { engineMissing } from "../support/engine.ts"
import { Fleet } from "../support/fleet.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

let fleet: Fleet

beforeAll(async () => {
  if (engineMissing !== null) return
  fleet = await Fleet.start(["a", "b"], { isSafe: true })
}, 60_000)

afterAll(() => fleet?.[Symbol.asyncDispose]())

/** What somebody can do who has taken a node's key and certificate. */
async function engineAs(name: string): Promise<NatsEngine> {
  const { cert, key } = fleet.node(name).certificate
  return NatsEngine.open({
    servers: fleet.engine.servers.split(","),
    node: name,
    credentials: fleet.keys.get(name)?.seedFile ?? null,
    ca: fleet.authority.ca,
    cert,
    key,
    unsafe: false,
  })
}

describe("three engine servers with TLS, and a key for each node", () => {
  testUnless(engineMissing, "are what a fleet asks for", async () => {
    const run = await cliOf(fleet.service("a"), "run", "--on", "node=b", "--", "echo", "there")
    expect(run).toMatchObject({ out: "there\n", exitCode: 0 })

    const { out } = await cliOf(fleet.service("a"), "node", "ls", "--json")
    const { engine, missing } = JSON.parse(out)
    expect(engine).toMatchObject({ connected: true, replicas: 3, problems: [], unsafe: false })
    expect(engine.servers).toHaveLength(3)
    expect(missing).toBeNull()
    const doctor = await cliOf(fleet.service("b"), "doctor")
    expect(doctor.out).toContain("3 replicas, 3 servers that write at once")
  })

  testUnless(engineMissing, "keep a node from writing what another one says", async () => {
    await using engine = await engineAs("a")
    const records = await engine.table("records", IndexEntry)
    const nodes = await engine.table("nodes", NodeEntry)
    const record = await until("b has told of something", async () => {
      const { out } = await cliOf(fleet.service("b"), "ps", "-a", "--json")
      const id = JSON.parse(out).executions[0]?.execution_id
      const found = await records.get(`b.${id}`)
      return found.ok && found.value !== null ? { id, entry: found.value.value } : null
    })

    const forged = await records.put(`b.${record.id}`, record.entry)
    const lease = await nodes.get("b")
    if (!lease.ok || lease.value === null) throw new Error("b has no lease")
    const taken = await nodes.replace("b", lease.value.value, lease.value.revision)
    const own = await records.put(`a.${record.id}`, record.entry)

    expect(forged).toMatchObject({ ok: false, failure: { kind: "unavailable" } })
    expect(taken).toMatchObject({ ok: false, failure: { kind: "unavailable" } })
    expect(own.ok).toBe(true)
  })

  testUnless(engineMissing, "let nobody in without a certificate or a key", async () => {
    const { cert, key } = fleet.node("a").certificate
    const identity = { node: "a", ca: fleet.authority.ca, cert, key, unsafe: false }
    const servers = fleet.engine.servers.split(",")
    const seed = fleet.keys.get("a")?.seedFile ?? null
    const plain = servers.map((server) => server.replace("tls:", "nats:"))

    expect(await refusalOf({ ...identity, servers, credentials: null })).toMatch(/authoriz/i)
    expect(await refusalOf({ ...identity, servers: plain, credentials: seed })).not.toBe("")
  })
})

/** Why the engine cannot be opened; empty where it can. */
async function refusalOf(access: Parameters<typeof NatsEngine.open>[0]): Promise<string> {
  try {
    await using _engine = await NatsEngine.open(access)
    return ""
  } catch (error) {
    return String(error)
  }
}

describe("an engine that may lose what it has acknowledged", () => {
  testUnless(engineMissing, "is not joined, and it is said why", async () => {
    await using loose = await Fleet.start([], { engine: { syncs: false } })
    const lone = await loose.add("a", { CC_EXECUTOR_FLEET_UNSAFE: "false" })
    const ready = await until("it says what is missing", async () => {
      const text = await (await fetch(await lone.url("/readyz"))).text()
      return /fleet-engine-un/.test(text) ? text : null
    })
    expect(ready).toContain("fleet-engine")
    const { error } = await cliOf(lone, "run", "--", "true")
    expect(error).toContain("cannot place anything now")
  })
})
