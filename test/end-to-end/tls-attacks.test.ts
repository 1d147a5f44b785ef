import { afterAll, describe, expect, test } from "bun:test"
import { connect as connectPlain } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { memoryOf } from "../support/memory-of.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { clientFrame, textOpcode } from "../support/tcp-talk.ts"
import { until } from "../support/until.ts"

const authority = new Authority()
const own = authority.issue({ subject: "/CN=localhost" })
const flags = { host: "127.0.0.1", "tls-cert": own.cert, "tls-key": own.key }

afterAll(() => authority[Symbol.dispose]())

describe("clients that do not read their flood", () => {
  const clients = 10

  test("cost the gateway a bounded amount of memory, and others no answer", async () => {
    await using service = await Service.start({ flags })
    const url = await service.url()
    using other = await RawSession.open(url, { tls: authority.trust() })
    await other.run({ command: "echo warm" })
    const before = memoryOf(service.gatewayPid).nowMb

    const deaf = await Promise.all(Array.from({ length: clients }, () => deafFollower(url)))
    await until("all floods have been written", async () => {
      const { executions } = await other.call("list", { limit: 100 })
      const ended = executions.filter(({ state }) => state === "ended")
      return ended.length === clients + 1
    })

    // Twenty megabytes each: all of it would be two hundred.
    expect(memoryOf(service.gatewayPid).peakMb - before).toBeLessThan(120)
    expect((await other.run({ command: "echo hi" })).stdout).toBe("hi\n")
    for (const socket of deaf) socket.destroy()
  }, 60_000)
})

describe("five hundred who connect and say nothing", () => {
  test("keep nobody waiting", async () => {
    await using service = await Service.start({ flags })
    const url = await service.url()
    const { hostname, port } = new URL(url)
    const silent = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const socket = connectPlain(Number(port), hostname)
        socket.on("error", () => undefined)
        await new Promise((resolve) => socket.once("connect", resolve))
        return socket
      }),
    )

    using session = await RawSession.open(url, { tls: authority.trust() })

    expect((await session.run({ command: "echo hi" })).stdout).toBe("hi\n")
    for (const socket of silent) socket.destroy()
  }, 60_000)
})

describe("a gateway that is killed", () => {
  test("is there again behind TLS, with the same certificate", async () => {
    await using service = await Service.start({ flags: { ...flags, port: String(freePort()) } })
    const url = await service.url()
    using session = await RawSession.open(url, { tls: authority.trust() })
    const killed = service.gatewayPid

    process.kill(killed, "SIGKILL")
    await session.closed

    const again = await until("a greeting", () =>
      RawSession.open(url, { tls: authority.trust() }).catch(() => null),
    )
    using later = again
    expect((await later.run({ command: "echo hi" })).stdout).toBe("hi\n")
  }, 60_000)
})

/** Starts a flood, follows it, and never reads a byte of it. */
async function deafFollower(url: string): Promise<TLSSocket> {
  const { hostname, port, host, pathname } = new URL(url)
  const ca = await Bun.file(authority.ca).text()
  const socket = connect({ host: hostname, port: Number(port), ca })
  socket.on("error", () => undefined)
  await new Promise((resolve) => socket.once("secureConnect", resolve))
  const headers = [
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]
  socket.write(`GET ${pathname} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`)
  await new Promise((resolve) => socket.once("data", resolve))
  socket.pause()
  const params = { command: "yes | head -c 20000000", encoding: "binary" }
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "execute", params })
  socket.write(clientFrame(textOpcode, request))
  return socket
}
