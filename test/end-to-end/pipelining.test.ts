import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ByteTalk, type Door } from "../support/byte-talk.ts"
import { Authority } from "../support/certificates.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"

const authority = new Authority()
const own = authority.issue({ subject: "/CN=localhost" })
const doors = new Map<string, Door>()
const services: Service[] = []
const sessions = new Map<string, RawSession>()

beforeAll(async () => {
  const plain = await Service.start()
  const tls = await Service.start({ flags: { "tls-cert": own.cert, "tls-key": own.key } })
  services.push(plain, tls)
  const ca = readFileSync(authority.ca, "utf8")
  const portOf = async (service: Service) => Number(new URL(await service.url("/")).port)
  doors.set("plain TCP", { port: await portOf(plain) })
  doors.set("the unix socket", { path: join(plain.stateDir, "gateway.sock") })
  doors.set("TLS", { port: await portOf(tls), ca })
  const session = await RawSession.open(await plain.url())
  sessions.set("plain TCP", session).set("the unix socket", session)
  sessions.set("TLS", await RawSession.open(await tls.url(), { tls: authority.trust() }))
})

afterAll(async () => {
  for (const session of sessions.values()) session[Symbol.dispose]()
  for (const service of services) await service[Symbol.asyncDispose]()
  authority[Symbol.dispose]()
})

for (const name of ["plain TCP", "TLS", "the unix socket"]) {
  describe(`two starts in one packet over ${name}`, () => {
    test("are refused as a whole, or answered: nothing runs that nobody is told of", async () => {
      using talk = new ByteTalk(doors.get(name) ?? { port: 0 })
      const mark = `one packet over ${name}`

      talk.write(start(mark) + start(mark))
      await talk.closes()

      const told = talk.statuses.filter((status) => status === 201).length
      expect(await countOf(name, mark)).toBe(told)
      if (name !== "the unix socket") expect(talk.heard).toContain("Nothing was carried out")
    })
  })

  describe(`a request over ${name} whose sender ends the connection within its body`, () => {
    test("is told so, and nothing runs", async () => {
      const mark = `cut off over ${name}`
      const [head = "", body = ""] = start(mark).split("\r\n\r\n")
      using talk = new ByteTalk(doors.get(name) ?? { port: 0 })

      talk.end(`${head}\r\n\r\n${body.slice(0, -1)}`)
      await talk.closes()

      expect(talk.statuses.filter((status) => status !== 400)).toEqual([])
      expect(await countOf(name, mark)).toBe(0)
    })
  })

  describe(`two starts, one after the other on one connection, over ${name}`, () => {
    test("are both answered", async () => {
      using talk = new ByteTalk(doors.get(name) ?? { port: 0 })
      const mark = `one after the other over ${name}`

      talk.write(start(mark))
      await talk.hears('"execution_id"')
      talk.write(start(mark))
      await talk.hears("}HTTP/1.1 2")

      expect(talk.statuses).toEqual([201, 201])
      expect(await countOf(name, mark)).toBe(2)
    })
  })
}

function start(mark: string): string {
  const body = JSON.stringify({ argv: ["/bin/true", mark] })
  const head = "POST /executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function countOf(door: string, mark: string): Promise<number> {
  const list = await sessions.get(door)?.call("list", { limit: 1000 })
  return (list?.executions ?? []).filter(({ argv }) => argv[1] === mark).length
}
