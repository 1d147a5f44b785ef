import { afterAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { type Handlers, listen } from "../../../../src/service/gateway/listen/listen.ts"
import type { TlsFiles } from "../../../../src/service/gateway/listen/tls-material.ts"
import type { TlsRefusal } from "../../../../src/service/gateway/listen/tls-terminator.ts"
import { Authority } from "../../../support/certificates.ts"
import { listeningPorts } from "../../../support/listening-ports.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { listenEvents as events, roomyBounds } from "./listen-setup.ts"

const authority = new Authority()
const own = authority.issue({ subject: "/CN=localhost" })
const alice = authority.issue({ subject: "/CN=alice" })

afterAll(() => authority[Symbol.dispose]())

describe("a request is handed on with who asks", () => {
  test("over plain TCP: the address", async () => {
    using place = await open(null)

    const asked = await place.ask("http", {})

    expect(asked).toEqual({
      ...tcp,
      local: { address: "127.0.0.1", port: place.port },
      subject: null,
    })
  })

  test("over TLS: the address, and the name in a client certificate", async () => {
    using anybody = await open({ ...own, clientCa: null })
    using known = await open({ ...own, clientCa: authority.ca })

    const nameless = await anybody.ask("https", { tls: authority.trust() })
    const named = await known.ask("https", { tls: authority.trust(alice) })

    expect(nameless).toMatchObject({ ...tcp, local: { port: anybody.port }, subject: null })
    expect(named).toMatchObject({ ...tcp, local: { port: known.port }, subject: "alice" })
  })

  test("over the unix socket: nothing but that", async () => {
    using place = await open({ ...own, clientCa: authority.ca })

    const asked = await place.ask("http", { unix: place.socketPath })

    expect(asked).toEqual({ kind: "unix" })
  })
})

describe("the plain port behind TLS", () => {
  test("is on 127.0.0.1 alone, and no request there is handed on", async () => {
    const before = new Set(listeningPorts(process.pid))
    using place = await open({ ...own, clientCa: null })
    const opened = listeningPorts(process.pid).filter((port) => !before.has(port))
    const inner = opened.find((port) => port !== place.port) ?? 0

    const response = await fetch(`http://127.0.0.1:${inner}/`)

    expect(opened).toHaveLength(3) // of TLS: 127.0.0.1 and ::1
    expect(response.status).toBe(403)
    expect(place.requests).toBe(0)
    expect(place.refusals).toMatchObject([{ address: "127.0.0.1", kind: "stranger" }])
  })
})

describe("certificates that cannot be used", () => {
  test("are a reason not to listen, and nothing is left open", async () => {
    using folder = temporaryFolder()
    const where = { ...hosts, socketPath: join(folder.path, "socket") }
    const before = listeningPorts(process.pid)

    const opened = await listen(
      { ...where, tls: { ...own, key: alice.key, clientCa: null } },
      handlers(() => undefined),
      events,
    )

    expect(opened).toMatchObject({ ok: false, failure: { code: "ETLS" } })
    expect(listeningPorts(process.pid)).toEqual(before)
  })
})

const tcp = { kind: "tcp", peer: expect.objectContaining({ address: "127.0.0.1" }) }
const hosts = {
  hosts: ["127.0.0.1", "::1"],
  port: 0,
  patienceS: 30,
  bounds: roomyBounds,
}
async function open(tls: TlsFiles | null) {
  const folder = temporaryFolder()
  const socketPath = join(folder.path, "socket")
  let requests = 0
  const counting = handlers(() => {
    requests += 1
  })
  const refusals: TlsRefusal[] = []
  const noting = { ...events, refused: (refusal: TlsRefusal) => void refusals.push(refusal) }
  const opened = await listen({ ...hosts, socketPath, tls }, counting, noting)
  if (!opened.ok) throw new Error(opened.failure.message)
  const { port } = opened.value
  return {
    port,
    socketPath,
    refusals,
    get requests() {
      return requests
    },
    async ask(scheme: string, init: BunFetchRequestInit): Promise<unknown> {
      const response = await fetch(`${scheme}://127.0.0.1:${port}/`, init)
      return response.json()
    },
    [Symbol.dispose]() {
      opened.value[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

function handlers(asked: () => void): Handlers<object> {
  return {
    async fetch(_request, _server, peer) {
      asked()
      return Response.json(peer)
    },
    websocket: { message: () => undefined },
  }
}
