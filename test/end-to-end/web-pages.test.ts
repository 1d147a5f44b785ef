import { describe, expect } from "bun:test"
import { z } from "zod"
import { noBrowser, openPage, pageText } from "../support/browser.ts"
import { RawSession } from "../support/raw-session.ts"
import { onlyInFull } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 90_000
const Report = z.record(z.string(), z.string())

/** A page of somebody else, that tries all a page can do and reports what came of it. */
class ForeignPage implements AsyncDisposable {
  /** Whom it tries. */
  target = ""
  readonly #report = Promise.withResolvers<Record<string, string>>()
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname === "/report") {
        this.#report.resolve(Report.parse(await request.json()))
        return new Response("")
      }
      return new Response(page(this.target), { headers: { "Content-Type": "text/html" } })
    },
  })

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  /** What a browser that opens it gets of a service. */
  async tries(service: Service): Promise<Record<string, string>> {
    this.target = (await service.url("/")).replace(/\/$/, "")
    await using _browser = openPage(`${this.origin}/`)
    return await this.#report.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}

function page(target: string): string {
  return `<!doctype html><title>Somebody else's page</title><script type="module">
    const target = ${JSON.stringify(target)}
    const command = JSON.stringify({ command: "true" })
    const tries = {
      async "cors get"() { return (await fetch(target + "/executions")).status },
      async "cors post"() {
        const headers = { "Content-Type": "application/json" }
        const init = { method: "POST", headers, body: command }
        return (await fetch(target + "/executions", init)).status
      },
      async "plain post"() {
        const init = { method: "POST", mode: "no-cors", body: command }
        return "sent, " + (await fetch(target + "/executions", init)).type
      },
      async "plain get"() {
        const answer = await fetch(target + "/executions", { mode: "no-cors" })
        return "sent, " + answer.type + " " + (await answer.text()).length
      },
      image: () => new Promise((done) => {
        const image = new Image()
        image.onload = () => done("loaded")
        image.onerror = () => done("refused")
        image.src = target + "/health"
      }),
      script: () => new Promise((done) => {
        const script = document.createElement("script")
        script.onload = () => done("loaded")
        script.onerror = () => done("refused")
        script.src = target + "/executions"
        document.head.append(script)
      }),
      form: () => new Promise((done) => {
        const frame = document.createElement("iframe")
        frame.name = "frame"
        frame.onload = () => done("sent")
        document.body.append(frame)
        const form = document.createElement("form")
        form.method = "post"; form.enctype = "text/plain"; form.target = "frame"
        form.action = target + "/executions"
        const field = document.createElement("input")
        field.name = command.slice(0, -1) + ',"x":"'; field.value = '"}'
        form.append(field); document.body.append(form); form.submit()
      }),
      mcp: async () => {
        const call = { jsonrpc: "2.0", id: 1, method: "tools/call",
          params: { name: "run", arguments: JSON.parse(command) } }
        const headers = { "Content-Type": "application/json",
          "Accept": "application/json, text/event-stream" }
        const sent = { method: "POST", headers, body: JSON.stringify(call) }
        return (await fetch(target + "/mcp", sent)).status
      },
      events: () => new Promise((done) => {
        const events = new EventSource(target + "/events")
        events.onopen = () => done("opened")
        events.onerror = () => done("refused")
      }),
      socket: () => new Promise((done) => {
        const socket = new WebSocket(target.replace("http", "ws") + "/ws/mcp")
        socket.onmessage = () => {
          socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "execute",
            params: JSON.parse(command) }))
          done("opened")
        }
        socket.onclose = () => done("refused")
      }),
      "mcp socket": () => new Promise((done) => {
        const socket = new WebSocket(target.replace("http", "ws") + "/ws/mcp", "mcp")
        socket.onopen = () => done("opened")
        socket.onclose = () => done("refused")
      }),
    }
    const report = {}
    for (const [name, run] of Object.entries(tries)) {
      report[name] = await run().then(String, () => "refused")
    }
    await fetch("/report", { method: "POST", body: JSON.stringify(report) })
  </script>`
}

/** The statuses of all requests so far, from the log. */
function statusesOf(service: Service): Set<unknown> {
  const lines = service.log.map((line) => JSON.parse(line))
  return new Set(lines.flatMap(({ msg, status }) => (msg === "http request" ? [status] : [])))
}

describe("a page of another origin, in a real browser", () => {
  testUnless(
    noBrowser,
    "gets nothing through: no request, no WebSocket, and nothing is run",
    async () => {
      await using service = await Service.start({ flags: { "log-level": "debug" } })
      await using foreign = new ForeignPage()

      const report = await foreign.tries(service)

      const refused = Object.fromEntries(Object.keys(report).map((name) => [name, "refused"]))
      expect(report).toEqual({ ...refused, form: "sent" })
      expect(Object.keys(report)).toHaveLength(11)
      expect(statusesOf(service)).toEqual(new Set([403]))
      using session = await RawSession.open(await service.url())
      expect((await session.call("list", {})).executions).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noBrowser ?? onlyInFull,
    "opens the WebSocket where its origin is allowed",
    async () => {
      await using foreign = new ForeignPage()
      await using service = await Service.start({ flags: { "allowed-origins": foreign.origin } })

      const report = await foreign.tries(service)

      using session = await RawSession.open(await service.url())
      expect(report["socket"]).toBe("opened")
      expect((await session.call("list", {})).executions).not.toEqual([])
    },
    timeoutMs,
  )
})

describe("a name that was made to lead to this machine", () => {
  testUnless(
    noBrowser,
    "opens nothing in a real browser, where the machine's own name does",
    async () => {
      await using service = await Service.start()
      const { port } = await service.listening
      const name = "rebound.example"

      const rebound = await pageText(`http://${name}:${port}/executions`, [name])
      const own = await pageText(`http://127.0.0.1:${port}/executions`)

      expect(rebound).toContain("FORBIDDEN")
      expect(own).toContain('"executions"')
    },
    timeoutMs,
  )
})
