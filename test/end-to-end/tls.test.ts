import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "node:tls"
import { untilNoted } from "../support/audit-lines.ts"
import { Authority, type IssuedCertificate } from "../support/certificates.ts"
import { listeningPorts } from "../support/listening-ports.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service, type ServiceOptions } from "../support/service.ts"
import { TcpTalk } from "../support/tcp-talk.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const authority = new Authority()
const others = new Authority("Others")
const first = authority.issue({ subject: "/CN=first" })
const second = authority.issue({ subject: "/CN=second" })
const alice = authority.issue({ subject: "/O=Acme/CN=alice" })

afterAll(() => {
  authority[Symbol.dispose]()
  others[Symbol.dispose]()
})

describe("a service with a certificate", () => {
  let service: Service
  beforeAll(async () => {
    service = await start({ flags: tlsFlags(first) })
  })
  afterAll(() => service[Symbol.asyncDispose]())

  test("serves wss:// and https://", async () => {
    const url = await service.url()
    expect(url).toStartWith("wss://127.0.0.1:")

    using session = await RawSession.open(url, { tls: authority.trust() })
    const run = await session.run({ command: "seq 1 1000" })
    const health = await fetch(await service.url("/readyz"), { tls: authority.trust() })

    expect(run.stdout.split("\n")).toHaveLength(1001)
    expect(health.status).toBe(200)
  })

  test("is not trusted by who does not know its authority", async () => {
    const session = new RawSession(await service.url(), { tls: others.trust() })

    expect((await session.closed).code).toBe(1006)
  })

  test("refuses plain ws:// and http:// at once, and says so in its log", async () => {
    await using plain = await start({ flags: tlsFlags(first) })
    const url = (await plain.url()).replace("wss:", "ws:")

    const session = new RawSession(url)
    expect((await session.closed).code).toBe(1006)
    using talk = await TcpTalk.connect(url)
    talk.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await talk.closed

    expect(talk.heard).not.toContain("HTTP/1.1 200")
    await until("a line of the log", () =>
      plain.log.find((line) => line.includes("tls connection refused")),
    )
  })

  test("serves nobody at the plain port behind it", async () => {
    const inner = await innerPort(service)

    const response = await fetch(`http://127.0.0.1:${inner}/healthz`)
    const session = new RawSession(`ws://127.0.0.1:${inner}/ws/mcp`)

    expect(response.status).toBe(403)
    expect((await session.closed).code).toBe(1006)
    const noted = await untilNoted(service.stateDir, { via: "tls", reason: "FORBIDDEN" })
    expect(noted).toMatchObject({ principal: null, address: "127.0.0.1", method: "connect" })
  })

  test("shows a new one to new clients, and the output of open sessions goes on", async () => {
    using folder = temporaryFolder()
    const files = { cert: join(folder.path, "cert.pem"), key: join(folder.path, "key.pem") }
    put(first, files)
    await using renewing = await start({ flags: tlsFlags(files) })
    const url = await renewing.url()
    using session = await RawSession.open(url, { tls: authority.trust() })
    const command = "while :; do echo tick; sleep 0.05; done"
    const { execution_id: id } = await session.call("execute", { command })
    await session.heard("process.output", id)
    expect(await shownName(url)).toBe("first")

    put(second, files)

    await until("the new certificate", async () => (await shownName(url)) === "second")
    const before = session.allHeard("process.output", id).length
    await until("more output", () => session.allHeard("process.output", id).length > before + 3)
    using later = await RawSession.open(url, { tls: authority.trust() })
    expect((await later.run({ command: "echo hi" })).stdout).toBe("hi\n")
    await session.call("control", { execution_id: id, type: "CANCEL" })
  })
})

describe("a service that wants client certificates", () => {
  const flags = { ...tlsFlags(first), "tls-client-ca": authority.ca }

  test("serves who has one, under the name in it, with the scopes of certificates", async () => {
    const scopes = { "client-cert-scopes": "execute,read" }
    await using service = await start({ flags: { ...flags, ...scopes } })

    using session = await RawSession.open(await service.url(), { tls: authority.trust(alice) })
    const { id: execution_id, stdout } = await session.run({ command: "echo hi" })
    const refused = await session.refused("control", { type: "CANCEL", execution_id })

    expect(stdout).toBe("hi\n")
    expect((await session.call("status", { execution_id })).principal).toBe("cert:alice")
    expect(refused.data.reason).toBe("FORBIDDEN")
  })

  test.each<[string, () => Bun.TLSOptions]>([
    ["none", () => authority.trust()],
    ["another authority's", () => authority.trust(others.issue({ subject: "/CN=alice" }))],
    ["an expired one", () => authority.trust(authority.issue({ subject: "/CN=a", days: -1 }))],
  ])("refuses who has %s", async (_, tls) => {
    await using service = await start({ flags })
    const url = await service.url()

    const session = new RawSession(url, { tls: tls() })

    expect((await session.closed).code).toBe(1006)
    expect(session.said).toEqual([])
    await until("a line of the log", () =>
      service.log.find((line) => line.includes("tls connection refused")),
    )
    const noted = { via: "tls", method: "connect", reason: "UNAUTHORIZED" } as const
    expect((await untilNoted(service.stateDir, noted)).outcome).toBe("refused")
  })
})

describe("what cannot be served with is refused at the start", () => {
  test.each<[string, Record<string, string>, string]>([
    ["a certificate without a key", { "tls-cert": first.cert }, "add --tls-key"],
    ["a file that is not there", tlsFlags({ ...first, key: "/no/key.pem" }), "(ENOENT)"],
    ["another's key", tlsFlags({ ...first, key: second.key }), "does not match"],
    [
      "clients' authorities that are none",
      { ...tlsFlags(first), "tls-client-ca": first.key },
      "contains no certificate",
    ],
  ])("%s", async (_, flags, why) => {
    await using service = new Service({ flags })

    expect(await service.exited).not.toBe(0)

    await until("the reason", () => service.said.join("\n").includes(why))
  })
})

function start(options: ServiceOptions): Promise<Service> {
  return Service.start({ ...options, flags: { host: "127.0.0.1", ...options.flags } })
}

function tlsFlags({ cert, key }: IssuedCertificate): Record<string, string> {
  return { "tls-cert": cert, "tls-key": key }
}

function put(pair: IssuedCertificate, files: IssuedCertificate): void {
  copyFileSync(pair.cert, files.cert)
  copyFileSync(pair.key, files.key)
}

/** The common name in the certificate that a new client is shown. */
async function shownName(url: string): Promise<string> {
  const ca = await Bun.file(authority.ca).text()
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ca })
  await new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve)
    socket.once("error", reject)
  })
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

/** The other TCP port on which the gateway listens. */
async function innerPort(service: Service): Promise<number> {
  const own = Number(new URL(await service.url()).port)
  const ports = listeningPorts(service.gatewayPid)
  const inner = ports.find((port) => port !== own)
  if (inner === undefined) throw new Error(`no inner port among ${ports.join(", ")}`)
  return inner
}
