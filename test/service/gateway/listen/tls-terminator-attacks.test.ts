import { afterAll, expect, test } from "bun:test"
import type { Socket } from "node:net"
import { connect } from "node:tls"
import { Authority } from "../../../support/certificates.ts"
import { until } from "../../../support/until.ts"
import { FrontStage, failure, upgradeTo } from "./terminator-setup.ts"

const authority = new Authority()

afterAll(() => authority[Symbol.dispose]())

test("five hundred who never say hello are cut off, and nobody waits for them", async () => {
  await using stage = await FrontStage.open(authority, { handshakeMs: 2_000 })
  const sockets = await Promise.all(Array.from({ length: 500 }, () => stage.connectTcp()))
  expect(stage.terminator.connections).toBe(500)

  expect(JSON.parse(await stage.ask("/"))).toMatchObject({ address: "127.0.0.1" })

  await Promise.all(sockets.map(gone))
  await until("no connection", () => stage.terminator.connections === 0)
  expect(stage.refusals[0]?.why).toBe("ERR_TLS_HANDSHAKE_TIMEOUT")
})

test.each([
  ["plain HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "ERR_SSL_HTTP_REQUEST"],
  ["noise", "\x00\xff\x80nonsense".repeat(100), /^ERR_SSL_/],
  ["half a hello, then noise", "\x16\x03\x01\x00\x10" + "x".repeat(500), /^ERR_SSL_/],
])("%s is refused at once", async (_, bytes, why) => {
  await using stage = await FrontStage.open(authority)
  const socket = await stage.connectTcp()

  socket.write(Buffer.from(bytes, "latin1"))
  await gone(socket)

  await until("no connection", () => stage.terminator.connections === 0)
  expect(stage.refusals.map((refusal) => refusal.why)).toEqual([
    typeof why === "string" ? why : expect.stringMatching(why),
  ])
})

test("resets at any moment leave nothing behind", async () => {
  await using stage = await FrontStage.open(authority)
  const hello = await helloBytes()

  for (const length of [0, 1, 5, 50, hello.length]) {
    const socket = await stage.connectTcp()
    socket.write(hello.subarray(0, length))
    socket.resetAndDestroy()
  }
  const flooded = await stage.connect()
  flooded.write(upgradeTo("/flood"))
  await new Promise((resolve) => flooded.once("data", resolve))
  flooded.resetAndDestroy()
  const asking = await stage.connect()
  asking.write("POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
  asking.resetAndDestroy()

  await until("no connection", () => stage.terminator.connections === 0)
  await until("nothing carried", () => stage.terminator.proxiedConnections === 0)
  expect(JSON.parse(await stage.ask("/"))).toMatchObject({ address: "127.0.0.1" })
})

test("one address gets so many connections, all together so many", async () => {
  await using few = await FrontStage.open(authority, { mostConnectionsPerAddress: 3 })
  const sockets = await Promise.all(Array.from({ length: 3 }, () => few.connect()))

  expect(await failure(few.connect())).toContain("closed in the handshake")

  expect(few.refusals.at(-1)?.why).toBe("too many connections from this address")
  sockets[0]?.destroy()
  await until("a free seat", () => few.terminator.connections === 2)
  const again = await few.connect()
  again.destroy()
  await using full = await FrontStage.open(authority, { mostConnections: 0 })
  expect(await failure(full.connect())).toContain("closed in the handshake")
  expect(full.refusals.at(-1)?.why).toBe("too many connections")
  for (const socket of sockets) socket.destroy()
})

async function gone(socket: Socket): Promise<void> {
  await until("it is closed", () => socket.closed)
}

/** The first bytes a TLS client says. */
async function helloBytes(): Promise<Buffer> {
  const heard = Promise.withResolvers<Buffer>()
  using listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (_, bytes) => heard.resolve(Buffer.from(bytes)) },
  })
  const socket = connect({ host: "127.0.0.1", port: listener.port })
  socket.on("error", () => undefined)
  const hello = await heard.promise
  socket.destroy()
  return hello
}
