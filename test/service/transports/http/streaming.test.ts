import { describe, expect, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { EventReader } from "./event-reader.ts"
import { httpService, rejectionOf } from "./http-service.ts"

const events = { Accept: "text/event-stream" }
const megabyte = 1_048_576

/** The app behind a real socket, as the gateway serves it. */
function served() {
  const service = httpService()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    development: false,
    fetch: (given) => service.app.fetch(given, {}),
  })
  const url = `http://127.0.0.1:${server.port}`
  return { ...service, url, server, [Symbol.asyncDispose]: () => server.stop(true) }
}

describe("over a socket", () => {
  test("raw output arrives byte for byte", async () => {
    await using service = served()
    const { execution, path } = service.run()
    const hash = new Bun.CryptoHasher("sha256")
    for (let part = 0; part < 64; part += 1) {
      const bytes = crypto.getRandomValues(new Uint8Array(65_536 - part))
      hash.update(bytes)
      execution.write(bytes)
      execution.write(bytes.subarray(0, 100), "stderr")
    }
    execution.end()

    const response = await fetch(`${service.url}${path}/output`)
    const received = new Bun.CryptoHasher("sha256").update(await response.arrayBuffer())

    expect(received.digest("hex")).toBe(hash.digest("hex"))
    expect(execution.feeds.size).toBe(0)
  })

  test("events arrive while the execution goes on", async () => {
    await using service = served()
    const { execution, path } = service.run()

    const response = await fetch(`${service.url}${path}/output`, { headers: events })
    const reader = new EventReader(response)
    expect(await reader.next()).toMatchObject({ event: "state" })
    execution.write("first")
    expect(await reader.next()).toMatchObject({ data: { data: "first" } })
    execution.write("second")
    expect(await reader.next()).toMatchObject({ data: { data: "second" } })
    execution.end()

    expect((await reader.rest()).at(-1)).toMatchObject({ event: "completed" })
    expect(execution.feeds.size).toBe(0)
  })

  test.each([["application/octet-stream"], ["text/event-stream"]])(
    "a client that leaves while %s waits takes its feed with it",
    async (Accept) => {
      await using service = served()
      const { execution, path } = service.run()
      execution.write("first")
      const leaving = new AbortController()
      const response = await fetch(`${service.url}${path}/output`, {
        headers: { Accept },
        signal: leaving.signal,
      })
      expect(response.status).toBe(200)
      expect(execution.feeds.size).toBe(1)

      leaving.abort()

      await until(() => execution.feeds.size === 0)
    },
  )

  test("a client that leaves before it is answered leaves no feed behind", async () => {
    await using service = served()
    const { execution, path } = service.run()
    const { operations } = service
    const { open } = operations
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    let opened = 0
    operations.open = async (...given) => {
      asked.resolve()
      await left.promise
      opened += 1
      return open(...given)
    }
    const leaving = new AbortController()
    const request = fetch(`${service.url}${path}/output`, { signal: leaving.signal })
    await asked.promise

    leaving.abort()
    await rejectionOf(request)
    await until(() => service.server.pendingRequests === 0)
    left.resolve()

    await until(() => opened === 1 && execution.feeds.size === 0)
  })

  test("a gap breaks the connection off, without the end of a whole answer", async () => {
    await using service = served()
    const { execution, path } = service.run()
    execution.write("first")
    const socket = await rawClient(service.server.port, `${path}/output`)
    await until(() => socket.received.includes("first"))

    execution.write("forgotten")
    execution.write("later")
    execution.forgetBefore(2)

    await until(() => socket.isClosed)
    expect(socket.received).toEndWith("first\r\n")
    expect(execution.feeds.size).toBe(0)
  })
})

describe("a reader that does not read", () => {
  test.each([["application/octet-stream"], ["text/event-stream"]])(
    "of %s stops the reading, and nobody else",
    async (accept) => {
      await using service = served()
      const { execution, path } = service.run()
      execution.flood = new Uint8Array(65_536).fill(120)
      const socket = await rawClient(service.server.port, `${path}/output`, accept)
      await until(() => socket.received.length > 0)
      const [feed] = execution.feeds

      socket.pause()
      // Each of these takes the server through its event loop at least once; unbounded, the flood
      // would be read at a megabyte each time.
      for (let round = 0; round < 200; round += 1) await fetch(`${service.url}/health`)
      const stalledAt = feed?.taken ?? 0
      for (let round = 0; round < 50; round += 1) await fetch(`${service.url}/health`)

      expect(stalledAt).toBeLessThan(32 * megabyte)
      expect(feed?.taken).toBe(stalledAt)
      socket.resume()
      await until(() => (feed?.taken ?? 0) > stalledAt + 32 * megabyte)
      socket.leave()
      await until(() => execution.feeds.size === 0)
    },
  )

  test("of one stream does not keep the others waiting while another floods", async () => {
    await using service = served()
    const { execution, path } = service.run()
    execution.flood = new Uint8Array(65_536)
    const leaving = new AbortController()
    const { signal } = leaving
    const url = `${service.url}${path}/output?stream=stderr`
    const response = fetch(url, { signal, headers: events })

    for (let round = 0; round < 20; round += 1) {
      expect((await fetch(`${service.url}/health`)).status).toBe(200)
    }

    expect((await response).status).toBe(200)
    leaving.abort()
    await until(() => execution.feeds.size === 0)
  })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate()
}

type RawClient = Pick<Socket, "pause" | "resume"> & {
  received: string
  isClosed: boolean
  leave: () => void
}

/** A client that can stop reading: `fetch` reads ahead. */
async function rawClient(
  port: number | undefined,
  path: string,
  accept = "*/*",
): Promise<RawClient> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(port ?? 0, "127.0.0.1", resolve)
  const client: RawClient = {
    received: "",
    isClosed: false,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    leave: () => socket.destroy(),
  }
  socket.on("data", (data) => {
    client.received = (client.received + data.toString("latin1")).slice(-1000)
  })
  socket.on("error", () => undefined) // a reset is what some tests wait for
  socket.on("close", () => {
    client.isClosed = true
  })
  await promise
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\n\r\n`)
  return client
}
