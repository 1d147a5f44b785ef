import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect } from "../../src/client/connect.ts"
import { auditAttempts } from "../support/audit-lines.ts"
import { Authority, type IssuedCertificate } from "../support/certificates.ts"
import { libraryClient } from "../support/followed-output.ts"
import { ListedNodes } from "../support/listed-nodes.ts"
import { NodeTalk } from "../support/node-talk.ts"
import { makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

const everything = ["read", "execute", "control", "admin"]
const alice = { principal: "alice", scopes: ["read"], address: "10.0.0.1", via: "websocket" }
const local = { principal: "local", scopes: everything, address: "unix", via: "websocket" }

let nodes: ListedNodes
let other: Authority

beforeAll(async () => {
  nodes = await ListedNodes.start(["a", "b", "c"])
  other = new Authority("Somebody else")
}, 60_000)

afterAll(async () => {
  await nodes[Symbol.asyncDispose]()
  other[Symbol.dispose]()
})

function talk(certificate?: IssuedCertificate): NodeTalk {
  const { ca } = nodes.authority
  return new NodeTalk(
    nodes.node("b").port,
    certificate === undefined ? { ca } : { ca, certificate },
  )
}

const asA = () => talk(nodes.node("a").certificate)

describe("the listener for nodes hears nobody", () => {
  test("without a certificate", async () => {
    using stranger = talk()
    stranger.say(alice)

    await stranger.closed()
    expect(stranger.said).toEqual([])
  })

  test("with a certificate of another authority, whatever name is in it", async () => {
    using stranger = talk(other.issue({ subject: "/CN=a" }))
    stranger.say(alice)

    await stranger.closed()
    expect(stranger.said).toEqual([])
  })

  test("with a certificate of the fleet's authority that is no node's", async () => {
    using client = talk(nodes.authority.issue({ subject: "/CN=laptop-of-alice" }))

    expect(await client.heard("FORBIDDEN")).toContain("is not a node of this fleet")
    await client.closed()
  })

  test("with a certificate of its own name", async () => {
    using twin = talk(nodes.authority.issue({ subject: "/CN=b" }))

    expect(await twin.heard("FORBIDDEN")).toContain("own name")
    await twin.closed()
  })

  test("that has expired", async () => {
    using late = talk(nodes.authority.issue({ subject: "/CN=a", days: -1 }))
    late.say(alice)

    await late.closed()
    expect(late.said).toEqual([])
  })
})

describe("a node speaks", () => {
  test("for those who come to it, and is greeted", async () => {
    using node = asA()
    node.say(alice)

    expect(await node.heard("greeting")).toContain("version")
  })

  test("for nobody who is local to another node", async () => {
    using node = asA()
    node.say({ ...local, principal: "local@c" })

    expect(await node.heard("FORBIDDEN")).toContain("local@c")
    await node.closed()
  })

  test("for no scope that there is not", async () => {
    using node = asA()
    node.say({ ...alice, scopes: ["everything"] })

    expect(await node.heard("INVALID_REQUEST")).toContain("says first for whom")
    await node.closed()
  })

  test("with no more than its caller may", async () => {
    using node = asA()
    node.say(alice)
    await node.heard("greeting")
    node.say({ jsonrpc: "2.0", id: 1, method: "execute", params: { command: "echo hi" } })

    expect(await node.heard('"id":1')).toContain("FORBIDDEN")
  })

  test("for its own user, who is admin of nothing here", async () => {
    await using here = libraryClient(await nodes.node("b").service.url())
    const execution = await here.execute({ command: "sleep 1000" })
    using node = asA()
    node.say(local)
    await node.heard("greeting")
    const params = { execution_id: execution.id, type: "CANCEL" }
    node.say({ jsonrpc: "2.0", id: 2, method: "control", params })

    expect(await node.heard('"id":2')).toContain("PROCESS_NOT_FOUND")
    await execution.cancel()
  })
})

describe("what is no message of a node's", () => {
  test.each([
    ["not TLS at all", (node: NodeTalk) => node.raw("GET / HTTP/1.1\r\n\r\n")],
    ["a first message that says nothing", (node: NodeTalk) => node.say("{}")],
    ["a first message of a gigabyte", (node: NodeTalk) => node.write(0, Buffer.alloc(8), 2 ** 30)],
    ["a kind that there is not", (node: NodeTalk) => node.write(77, Buffer.alloc(8))],
    ["output", (node: NodeTalk) => node.write(1, Buffer.alloc(64))],
  ])("%s ends the connection, and nothing else", async (_, say) => {
    using hostile = asA()
    say(hostile)
    await hostile.closed()

    using node = asA()
    node.say(alice)
    await node.heard("greeting")
  })

  test("orders about feeds that are none change nothing", async () => {
    using node = asA()
    node.say(alice)
    await node.heard("greeting")
    for (const order of ["begin", "take", "drive", "ack", "stand-by", "no-size", "", null, {}]) {
      node.say(JSON.stringify({ order, bytes: -1, next: "1.2.3", form: "text" }))
    }
    node.say({ jsonrpc: "2.0", id: 3, method: "list", params: {} })

    expect(await node.heard('"id":3')).toContain("executions")
  })
})

describe("a caller with a token that may only read", () => {
  test("starts nothing on another node, and both trails say so", async () => {
    const { service } = nodes.node("a")
    const token = await makeToken(service.stateDir, { name: "reader", scope: "read" })
    await using reader = connect({ url: await service.url(), token })

    const refused = reader.call("execute", { command: "echo hi", labels: { on: "b" } })

    expect(await refused.catch((error: unknown) => String(error))).toContain("needs the scope")
    for (const name of ["a", "b"]) {
      await until(`a line in the trail of ${name}`, () =>
        auditAttempts(nodes.node(name).service.stateDir).some(
          ({ principal, method, outcome }) =>
            principal === "reader" && method === "execute" && outcome === "refused",
        ),
      )
    }
  })
})

describe("a node", () => {
  test("is not asked where another one answers", async () => {
    nodes.list({ b: `127.0.0.1:${nodes.node("c").port}` })
    await using client = libraryClient(await nodes.node("a").service.url())

    const refused = client.call("execute", { command: "echo hi", labels: { on: "b" } })

    const why = await refused.catch((error: unknown) => String(error))
    nodes.list()
    expect(why).toContain("another node answers there")
  })

  test.each([
    ["its name from another authority", { names: "DNS:b" }, "unable to verify"],
    ["that, for another host", { names: "DNS:elsewhere" }, "unable to verify"],
    ["that, expired", { names: "DNS:b", days: -1 }, "unable to verify"],
  ])("is not asked where somebody answers with %s", async (_name, issue, why) => {
    const { cert, key } = other.issue({ subject: "/CN=b", ...issue })
    const heard: string[] = []
    using impostor = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: Bun.file(cert), key: Bun.file(key) },
      socket: { data: (_, bytes) => void heard.push(String(bytes)), error: () => undefined },
    })
    nodes.list({ b: `127.0.0.1:${impostor.port}` })
    await using client = libraryClient(await nodes.node("a").service.url())

    const refused = client.call("execute", { command: "echo hi", labels: { on: "b" } })

    const told = await refused.catch((error: unknown) => String(error))
    nodes.list()
    expect(told).toContain(why)
    expect(heard).toEqual([])
  })

  test("that was forgotten is heard no more, and what it had open is closed", async () => {
    using node = talk(nodes.node("c").certificate)
    node.say(alice)
    await node.heard("greeting")

    nodes.forget("c")

    await node.closed()
    using again = talk(nodes.node("c").certificate)
    expect(await again.heard("FORBIDDEN")).toContain("was forgotten")
  })
})
