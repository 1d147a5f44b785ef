import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { Authority } from "../../../support/certificates.ts"
import { memoryOf } from "../../../support/memory-of.ts"
import { until } from "../../../support/until.ts"
import { FrontStage, failure, materialOf, upgradeTo } from "./terminator-setup.ts"

const authority = new Authority()
const others = new Authority("Others")
const alice = authority.issue({ subject: "/O=Acme/CN=alice" })

afterAll(() => {
  authority[Symbol.dispose]()
  others[Symbol.dispose]()
})

describe("a client without a certificate", () => {
  test("is served where none is wanted, and known by its address", async () => {
    await using stage = await FrontStage.open(authority)

    const peer = JSON.parse(await stage.ask("/"))

    expect(peer).toMatchObject({
      address: "127.0.0.1",
      local: { address: "127.0.0.1" },
      subject: null,
    })
    expect(stage.refusals).toEqual([])
  })

  test("is refused where one is wanted", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })

    const asked = await failure(stage.ask("/"))

    expect(asked).toContain("EPROTO")
    await until("the refusal", () => stage.refusals.length === 1)
    expect(stage.refusals).toEqual([
      {
        address: "127.0.0.1",
        port: expect.any(Number),
        kind: "handshake",
        why: "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE",
      },
    ])
  })
})

describe("a client with a certificate", () => {
  test("is known by the name in it", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })

    const peer = JSON.parse(await stage.ask("/", alice))

    expect(peer).toMatchObject({ address: "127.0.0.1", subject: "alice" })
  })

  test("with two common names is known by all of its subject", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })
    const both = authority.issue({ subject: "/CN=alice/CN=root" })

    expect(JSON.parse(await stage.ask("/", both))).toMatchObject({ subject: "CN=alice,CN=root" })
  })

  test("is not asked for it where none is wanted", async () => {
    await using stage = await FrontStage.open(authority)

    expect(JSON.parse(await stage.ask("/", alice))).toMatchObject({ subject: null })
  })

  test.each([
    ["of another authority", () => others.issue({ subject: "/CN=alice" })],
    ["that has expired", () => authority.issue({ subject: "/CN=alice", days: -1 })],
    ["that names nobody", () => authority.issue({ subject: "/" })],
  ])("%s is refused", async (_, issue) => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })

    const asked = await failure(stage.ask("/", issue()))

    expect(asked).toContain("ECONNRESET")
    await until("the refusal", () => stage.refusals.length === 1)
    await until("no connection", () => stage.terminator.connections === 0)
  })

  test("shows it each time: no session is resumed", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })
    const first = await stage.connect(alice)
    let offered = 0
    first.on("session", () => {
      offered += 1
    })

    first.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await new Promise((resolve) => first.once("data", resolve))

    expect(offered).toBe(0)
    first.destroy()
  })
})

describe("of TLS", () => {
  test.each([
    ["-tls1_3", "ALL", true],
    ["-tls1_2", "ECDHE-ECDSA-AES128-GCM-SHA256", true],
    ["-tls1_2", "ECDHE-ECDSA-AES128-SHA", false],
    ["-tls1_1", "ALL", false],
  ])("%s with %s is spoken: %p, also after a rotation", async (version, ciphers, isSpoken) => {
    await using stage = await FrontStage.open(authority)
    const speaks = async () => {
      const where = ["-connect", `127.0.0.1:${stage.port}`, version]
      const how = ["-cipher", `${ciphers}:@SECLEVEL=0`]
      const io = { stdin: "ignore", stdout: "pipe", stderr: "ignore" } as const
      const program = Bun.spawn(["openssl", "s_client", ...where, ...how], io)
      return /Cipher is (?!\(NONE\))/.test(await program.stdout.text())
    }

    const before = await speaks()
    const second = authority.issue({ subject: "/CN=second" })
    stage.terminator.use(materialOf({ ...second, clientCa: null }))

    expect([before, await speaks()]).toEqual([isSpoken, isSpoken])
  })
})

describe("the plain server behind the front", () => {
  test("is told of nobody who comes to it directly", async () => {
    await using stage = await FrontStage.open(authority)

    const response = await fetch(`http://127.0.0.1:${stage.inner.port}/`)

    expect(await response.json()).toBeNull()
  })

  test("does not take another for a client who comes with the client's port", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })
    const socket = await stage.connect(alice)
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await new Promise((resolve) => socket.once("data", resolve))
    const port = portTo(stage.inner.port ?? 0)

    const said = await askFrom("127.0.0.2", port, stage.inner.port ?? 0)

    expect(stage.terminator.peerOf({ address: "127.0.0.1", port })).toMatchObject({
      subject: "alice",
    })
    expect(stage.terminator.peerOf({ address: "127.0.0.2", port })).toBeNull()
    expect(said).toEndWith("null")
    socket.destroy()
  })

  test("does not know a connection any more that is over", async () => {
    await using stage = await FrontStage.open(authority)
    const socket = await stage.connect()
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await new Promise((resolve) => socket.once("data", resolve))

    socket.destroy()

    await until("no connection", () => stage.terminator.connections === 0)
    await until("the peer forgotten", () => stage.terminator.proxiedConnections === 0)
  })

  test("when it closes a connection, the client's is closed, after the last byte", async () => {
    await using stage = await FrontStage.open(authority)
    const socket = await stage.connect()
    let received = 0
    socket.on("data", (bytes) => {
      received += bytes.length
    })

    socket.write("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    await new Promise((resolve) => socket.once("close", resolve))

    expect(received).toBeGreaterThan(100 * 64 * 1024)
    await until("no connection", () => stage.terminator.connections === 0)
  })

  test("when it goes away, clients are cut off, and later ones as well", async () => {
    await using stage = await FrontStage.open(authority)
    const socket = await stage.connect()
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await new Promise((resolve) => socket.once("data", resolve))
    const closed = new Promise((resolve) => socket.once("close", resolve))

    await stage.inner.stop(true)
    await closed

    expect(await failure(stage.ask("/"))).toContain("ECONNRESET")
    await until("no connection", () => stage.terminator.connections === 0)
  })
})

describe("bytes", () => {
  test("arrive all, in both directions, on many connections at once", async () => {
    await using stage = await FrontStage.open(authority)
    const body = new Uint8Array(5_000_000).fill(7)

    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        index % 2 === 0
          ? Number(await stage.ask("/length", undefined, body))
          : (await stage.ask("/large")).length,
      ),
    )

    const wanted = answers.map((_, index) => (index % 2 === 0 ? body.length : 100 * 64 * 1024))
    expect(answers).toEqual(wanted)
  })

  test("wait in the server, not in memory, for a client that does not read", async () => {
    await using stage = await FrontStage.open(authority)
    const sockets = await Promise.all(Array.from({ length: 5 }, () => stage.connect()))
    const before = memoryOf(process.pid).nowMb

    for (const socket of sockets) {
      socket.pause()
      socket.write(upgradeTo("/flood"))
    }
    await settled(() => stage.floodedBytes)

    // What the kernel and the sockets hold, on three sockets for each client; a second of the flood
    // alone would be a gigabyte.
    expect(stage.floodedBytes / sockets.length).toBeLessThan(40 * 1024 * 1024)
    expect(memoryOf(process.pid).nowMb - before).toBeLessThan(200)
    for (const socket of sockets) socket.destroy()
    await until("no connection", () => stage.terminator.connections === 0)
  })

  test("of one client flow while another does not read", async () => {
    await using stage = await FrontStage.open(authority)
    const deaf = await stage.connect()
    deaf.pause()
    deaf.write(upgradeTo("/flood"))
    await settled(() => stage.floodedBytes)

    expect((await stage.ask("/large")).length).toBe(100 * 64 * 1024)
    deaf.destroy()
  })
})

describe("a new certificate", () => {
  test("is shown to new clients, while open connections go on", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })
    const open = await stage.connect(alice)
    const second = authority.issue({ subject: "/CN=second" })

    stage.terminator.use(materialOf({ ...second, clientCa: authority.ca }))
    const later = await stage.connect(alice)

    expect(open.getPeerCertificate().subject.CN).toBe("first")
    expect(later.getPeerCertificate().subject.CN).toBe("second")
    open.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    const said = await new Promise((resolve) => open.once("data", resolve))
    expect(String(said)).toContain('"subject":"alice"')
    expect(await failure(stage.ask("/"))).toContain("EPROTO") // it still wants one of the client
    open.destroy()
    later.destroy()
  })

  test("of the clients' authority decides about new clients", async () => {
    await using stage = await FrontStage.open(authority, { wantsClients: true })
    const bob = others.issue({ subject: "/CN=bob" })

    stage.terminator.use(materialOf({ ...stage.files, clientCa: others.ca }))

    expect(JSON.parse(await stage.ask("/", bob))).toMatchObject({ subject: "bob" })
    expect(await failure(stage.ask("/", alice))).toContain("ECONNRESET")
  })
})

/** The port from which the one connection to a port of 127.0.0.1 comes. */
function portTo(port: number): number {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, "0")
  const table = readFileSync("/proc/net/tcp", "utf8")
  const row = new RegExp(`0100007F:(\\w{4}) 0100007F:${hex(port)} 01`).exec(table)
  return Number.parseInt(row?.[1] ?? "0", 16)
}

/** What a server says to a request from an address and port of our choice. */
async function askFrom(localAddress: string, localPort: number, port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, localAddress, localPort })
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
  let said = ""
  for await (const bytes of socket) said += String(bytes)
  return said
}

/** Until a number has stood still over many looks. */
async function settled(look: () => number): Promise<void> {
  let last = -1
  let looks = 0
  await until("it stands still", () => {
    const now = look()
    looks = now === last && now > 0 ? looks + 1 : 0
    last = now
    return looks >= 50
  })
}
