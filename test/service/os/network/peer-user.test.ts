import { describe, expect, test } from "bun:test"
import { once } from "node:events"
import { createServer, type Server } from "node:net"
import { addressBytes, canonicalAddress } from "../../../../src/lib/tcp-ends.ts"
import { peerUsers } from "../../../../src/service/os/network/peer-user.ts"
import { uidInTcpTable } from "../../../../src/service/os/network/tcp-table.ts"
import { readTcpTable } from "../../../../src/service/os/proc.ts"
import { answerTo, noOtherUsers } from "../../../support/as-user.ts"
import { testUnless } from "../../../support/test-unless.ts"
import { until } from "../../../support/until.ts"

const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"

function row(from: string, to: string, state: string, uid: number, inode: number): string {
  const queues = "00000000:00000000 00:00000000 00000000"
  return `   1: ${from} ${to} ${state} ${queues} ${uid} 0 ${inode} 1 0 20`
}

const ends = {
  peer: { address: "127.0.0.1", port: 40_000 },
  local: { address: "127.0.0.1", port: 8003 },
}
const theirs = "0100007F:9C40"
const ours = "0100007F:1F43"

describe("the table of TCP sockets", () => {
  test("tells the user of the peer's socket, not of ours", () => {
    const table = [header, row(ours, theirs, "01", 7, 1), row(theirs, ours, "01", 1000, 2)]
    expect(uidInTcpTable(table.join("\n"), ends)).toBe(1000)
  })

  test.each([
    ["was closed, and shows uid 0", row(theirs, ours, "06", 0, 0)],
    ["is established but nobody's", row(theirs, ours, "01", 0, 0)],
    ["waits for its end", row(theirs, ours, "08", 0, 5)],
    ["is connected elsewhere", row(theirs, "0100007F:1F44", "01", 0, 5)],
    ["has another address", row("0200007F:9C40", ours, "01", 0, 5)],
    ["is cut short", "   1: 0100007F:9C40"],
  ])("tells nothing of a socket that %s", (_, line) => {
    expect(uidInTcpTable([header, line].join("\n"), ends)).toBeNull()
  })

  test.each([
    ["waits for an acknowledgement", "04"],
    ["only listens", "05"],
  ])("tells the user of one that has said all and %s", (_, state) => {
    expect(uidInTcpTable(row(theirs, ours, state, 1000, 5), ends)).toBe(1000)
    expect(uidInTcpTable(row(theirs, ours, state, 0, 0), ends)).toBeNull()
  })

  test("knows IPv6, and IPv4 inside of it", () => {
    const loopback = "00000000000000000000000001000000"
    const mapped = "0000000000000000FFFF00000100007F"
    const six = { peer: { address: "::1", port: 40_000 }, local: { address: "::1", port: 8003 } }
    const table = row(`${loopback}:9C40`, `${loopback}:1F43`, "01", 6, 5)
    const inside = row(`${mapped}:9C40`, `${mapped}:1F43`, "01", 4, 5)

    expect(uidInTcpTable(table, six)).toBe(6)
    expect(uidInTcpTable(inside, ends)).toBe(4)
    const written = { ...ends, peer: { address: "::ffff:127.0.0.1", port: 40_000 } }
    expect(uidInTcpTable(inside, written)).toBe(4)
  })
})

describe("a server that listens on all addresses", () => {
  const anywhere = { ...ends, local: { address: "0.0.0.0", port: 8003 } }
  const elsewhere = "0900007F:1F43" // 127.0.0.9

  test("believes the table when there is one answer, or all are the same", () => {
    const one = row(theirs, elsewhere, "01", 1000, 5)
    expect(uidInTcpTable(one, anywhere)).toBe(1000)
    expect(uidInTcpTable([one, row(theirs, ours, "01", 1000, 6)].join("\n"), anywhere)).toBe(1000)
  })

  test("believes nobody when two users come from one port, to different addresses", () => {
    const table = [row(theirs, ours, "01", 0, 5), row(theirs, elsewhere, "01", 1234, 6)].join("\n")

    expect(uidInTcpTable(table, anywhere)).toBeNull()
    expect(uidInTcpTable(table, ends)).toBe(0)
  })

  testUnless(noOtherUsers, "is not deceived by a port that another user shares", async () => {
    using users = peerUsers()
    const found: Array<number | null> = []
    const server = Bun.serve({
      hostname: "0.0.0.0",
      port: 0,
      fetch(request, own) {
        const peer = own.requestIP(request) ?? { address: "", port: 0 }
        found.push(users.uidOf({ peer, local: { address: "0.0.0.0", port: own.port ?? 0 } }))
        return new Response("")
      },
    })
    await using _stop = { [Symbol.asyncDispose]: () => server.stop(true) }
    const own = await Bun.connect({
      hostname: "127.0.0.1",
      port: server.port ?? 0,
      socket: { data: () => undefined },
    })

    await knockFrom(own.localPort, "127.0.0.9", server.port ?? 0)
    own.end()

    expect(found).toEqual([null])
  })
})

/** As another user, from a port that is taken by a connection to another address. */
async function knockFrom(port: number, host: string, at: number): Promise<void> {
  const script = `
import socket, struct, sys
port, host, at = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
s = socket.socket()
s.setsockopt(socket.IPPROTO_IP, 51, struct.pack("I", port << 16 | port)) # IP_LOCAL_PORT_RANGE
s.connect((host, at))
s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
s.recv(1000)
`
  const user = ["setpriv", "--reuid", "1234", "--clear-groups", "/usr/bin/python3", "-c", script]
  const knocking = Bun.spawn([...user, String(port), host, String(at)], { stderr: "pipe" })
  if ((await knocking.exited) !== 0) throw new Error(await knocking.stderr.text())
}

describe("an address", () => {
  test.each([
    ["::ffff:127.0.0.1", "127.0.0.1", 4],
    ["0:0:0:0:0:0:0:1", "::1", 16],
    ["2001:DB8::7", "2001:db8::7", 16],
    ["10.0.0.1", "10.0.0.1", 4],
  ])("%s is %s", (address, canonical, length) => {
    expect(canonicalAddress(address)).toBe(canonical)
    expect(addressBytes(canonical)).toHaveLength(length)
  })
})

describe("a connection to ourselves", () => {
  for (const hostname of ["127.0.0.1", "::1", "0.0.0.0", "::"]) {
    testUnless(noOtherUsers, `on ${hostname} has the user who made it`, async () => {
      using users = peerUsers()
      const found: Array<[number | null, number | null]> = []
      const server = Bun.serve({
        hostname,
        port: 0,
        fetch(request, own) {
          const peer = own.requestIP(request) ?? { address: "", port: 0 }
          const local = { address: hostname, port: own.port ?? 0 }
          const table = readTcpTable("tcp") + readTcpTable("tcp6")
          found.push([users.uidOf({ peer, local }), uidInTcpTable(table, { peer, local })])
          return new Response("")
        },
      })
      await using _stop = { [Symbol.asyncDispose]: () => server.stop(true) }
      const host = hostname.includes(":") ? "[::1]" : "127.0.0.1"
      const uids = [0, 1234, 65_534]
      for (const uid of uids) {
        await answerTo(new URL(`http://${host}:${server.port}`), { uid, path: "/" })
      }

      expect(found).toEqual(uids.map((uid) => [uid, uid]))
    })
  }

  testUnless(noOtherUsers, "has that user after its last word, until it is closed", async () => {
    using users = peerUsers()
    const found: Array<[number | null, number | null]> = []
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.resume().on("error", () => undefined)
      socket.once("end", async () => {
        const peer = { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 }
        const ends = { peer, local: { address: "127.0.0.1", port: portOf(server) } }
        const uidNow = () => users.uidOf(ends)
        const whileOpen = uidNow()
        socket.write("close now")
        await until("its program has closed it", () => uidNow() === null)
        found.push([whileOpen, uidInTcpTable(readTcpTable("tcp"), ends)])
        socket.destroy()
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    for (const uid of [0, 1234]) await sayAndShutDown(uid, portOf(server))
    await until("both were asked about", () => found.length === 2)
    server.close()

    expect(found).toEqual([
      [0, null],
      [1234, null],
    ])
  })

  test("that is over has no user", () => {
    using users = peerUsers()
    expect(users.uidOf({ ...ends, peer: { address: "127.0.0.1", port: 1 } })).toBeNull()
  })
})

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === "object" ? (address?.port ?? 0) : 0
}

/** As a user; it is closed when there is an answer, however much of it. */
async function sayAndShutDown(uid: number, port: number): Promise<void> {
  const script = `
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.shutdown(socket.SHUT_WR)
s.recv(100)
`
  const user = ["setpriv", "--reuid", String(uid), "--clear-groups", "/usr/bin/python3", "-c"]
  await Bun.spawn([...user, script, String(port)]).exited
}
