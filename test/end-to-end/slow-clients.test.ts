import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"

const timeoutMs = 60_000

let service: Service

beforeAll(async () => {
  service = await Service.start({ flags: { "request-timeout": "4s" } })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Sends something, then a little more all the time, until it is cut off; answers what it heard. */
async function trickle(first: string, more: string | null): Promise<string> {
  const { hostname, port } = await service.listening
  const { promise, resolve } = Promise.withResolvers<string>()
  let heard = ""
  const socket = connect(Number(port), hostname, () => socket.write(first))
  const dripping = setInterval(() => {
    if (more !== null) socket.write(more)
  }, 500)
  socket.on("data", (data) => {
    heard += data.toString()
  })
  socket.on("error", () => undefined) // to be cut off is what it waits for
  socket.on("close", () => {
    clearInterval(dripping)
    resolve(heard)
  })
  return promise
}

const host = "Host: localhost\r\n"
const post = `POST /executions HTTP/1.1\r\n${host}Content-Type: application/json\r\n`

describe("a client that does not get on with its request is cut off", () => {
  test.concurrent.each([
    ["which sends nothing", "", null],
    ["whose header stops in the middle", `GET /health HTTP/1.1\r\n${host}`, null],
    ["whose header never ends", `GET /health HTTP/1.1\r\n${host}`, "X-More: of this\r\n"],
    ["whose body stops in the middle", `${post}Content-Length: 1000\r\n\r\n{"comm`, null],
    ["whose body comes byte by byte", `${post}Content-Length: 1000\r\n\r\n{"comm`, "x"],
    ["whose chunks never end", `${post}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n"],
    ["which has asked once and then sends half", `GET /healthz HTTP/1.1\r\n${host}\r\n`, "GET"],
  ])(
    "one %s",
    async (_, first, more) => {
      const heard = await trickle(first, more)
      expect(heard.replace(/^HTTP\/1\.1 200 OK[^{]*\{[^]*$/, "")).not.toContain("200 OK")
    },
    timeoutMs,
  )
})

describe("a client that has asked, and waits", () => {
  test.concurrent(
    "is answered, however long that takes",
    async () => {
      const url = await service.url("/executions")
      const headers = { "Content-Type": "application/json" }
      const job = { command: "trap '' TERM; sleep 1000", shell: true }
      const started = await fetch(url, { method: "POST", headers, body: JSON.stringify(job) })
      const { execution_id: id } = JSON.parse(await started.text())

      // SIGTERM is ignored: the answer comes when the grace of five seconds is over.
      const canceled = await fetch(`${url}/${id}/control`, {
        method: "POST",
        headers,
        body: JSON.stringify({ type: "CANCEL" }),
      })

      expect(canceled.status).toBe(200)
    },
    timeoutMs,
  )

  test.concurrent(
    "for events or output gets them after any silence, and so does a WebSocket",
    async () => {
      using session = await RawSession.open(await service.url())
      const { execution_id: id } = await session.call("execute", { command: "sleep 14; echo late" })

      const output = await fetch(await service.url(`/executions/${id}/output?follow=true`))

      expect(await output.text()).toBe("late\n")
      await session.heard("process.completed", id)
    },
    timeoutMs,
  )
})
