import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { z } from "zod"
import { ExecuteResult } from "../../src/protocol/execute.ts"
import { ExecutionView } from "../../src/protocol/execution-view.ts"
import { methods } from "../../src/protocol/methods.ts"
import { notifications } from "../../src/protocol/notifications.ts"
import { EventTalk, HttpTalk, refusalOf } from "../support/http-talk.ts"
import { memoryOf } from "../support/memory-of.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { TcpTalk } from "../support/tcp-talk.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000

let service: Service
let http: HttpTalk

beforeAll(async () => {
  service = await Service.start()
  http = new HttpTalk((await service.url("/")).replace(/\/$/, ""))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function start(body: object): Promise<string> {
  return (await http.call(ExecuteResult, "POST", "/executions", body)).execution_id
}

async function viewOf(id: string): Promise<z.infer<typeof ExecutionView>> {
  return http.call(ExecutionView, "GET", `/executions/${id}`)
}

async function ended(id: string): Promise<z.infer<typeof ExecutionView>> {
  return until(`the end of ${id}`, async () => {
    const view = await viewOf(id)
    return view.state === "ended" ? view : null
  })
}

async function cancel(id: string): Promise<void> {
  const order = { type: "CANCEL" }
  await http.call(methods.control.result, "POST", `/executions/${id}/control`, order)
}

describe("raw output", () => {
  const bytes = byScale({ short: 20_000_000, full: 50_000_000, long: 50_000_000 })

  test(
    `is byte for byte what was written: ${bytes / 1e6} MB of it, followed while it is`,
    async () => {
      const id = await start({ command: `head -c ${bytes} /dev/urandom; echo done >&2` })
      const output = await hashOf(await http.fetch(`/executions/${id}/output`))
      const errors = await http.fetch(`/executions/${id}/output?stream=stderr`)

      const { hashes } = await ended(id)
      expect(output).toEqual({ bytes, hash: hashes?.stdout ?? "" })
      expect(await errors.text()).toBe("done\n")
    },
    timeoutMs,
  )

  test("ends where it ends now, when that is asked, and goes on from there", async () => {
    const id = await start({ argv: ["cat"], stdin: "pipe" })
    const input = (data: string) => http.ask("POST", `/executions/${id}/input`, { data })
    await input("one\n")
    await until("it is recorded", async () => (await viewOf(id)).bytes.stdout === 4)
    const first = await http.fetch(`/executions/${id}/output?follow=false`)
    const next = first.headers.get("x-cc-next") ?? ""
    expect(first.headers.get("x-cc-execution-state")).toBe("running")
    expect(await first.text()).toBe("one\n")

    await input("two\n")
    await until("it is recorded", async () => (await viewOf(id)).bytes.stdout === 8)
    const second = await http.fetch(`/executions/${id}/output?follow=false&from=${next}`)
    expect(await second.text()).toBe("two\n")
    await cancel(id)
  })

  test("that has a gap is refused, with where it goes on", async () => {
    const budget = { bytes: 65_536 }
    const id = await start({ command: "seq 1 100000", budget })
    const { dropped } = await ended(id)
    const response = await http.fetch(`/executions/${id}/output`)
    const from = response.headers.get("x-cc-available-from") ?? ""

    expect(await refusalOf(response)).toMatchObject({ status: 410, reason: "EXPIRED" })
    const rest = await http.fetch(`/executions/${id}/output?from=${from}`)
    expect((await rest.text()).length).toBe(588_895 - dropped.bytes)
  })
})

describe("output as events", () => {
  const Output = notifications["process.output"]

  test("begins with the state, ends with the end, and every id is a place to go on", async () => {
    const id = await start({ command: "echo a; echo b >&2; echo c; exit 3" })
    await ended(id)
    using events = await EventTalk.open(http, `/executions/${id}/output`)
    await events.done
    const names = events.events.map(({ event }) => event)
    const outputs = events.events.filter(({ event }) => event === "output")
    const last = events.events.at(-1)

    expect(names[0]).toBe("state")
    expect(names.at(-1)).toBe("completed")
    expect(notifications["process.completed"].parse(last?.data)).toMatchObject({ exit_code: 3 })
    for (const [index, output] of outputs.entries()) {
      const headers = { "Last-Event-ID": output.id }
      using resumed = await EventTalk.open(http, `/executions/${id}/output`, headers)
      await resumed.done
      const rest = resumed.events.filter(({ event }) => event === "output")
      expect(rest.map(({ data }) => Output.parse(data).data)).toEqual(
        outputs.slice(index + 1).map(({ data }) => Output.parse(data).data),
      )
    }
    const headers = { Accept: "text/event-stream", "Last-Event-ID": last?.id ?? "" }
    expect((await http.fetch(`/executions/${id}/output`, { headers })).status).toBe(204)
  })

  test("comes as it is written, and stops with its reader", async () => {
    const id = await start({ argv: ["cat"], stdin: "pipe" })
    using events = await EventTalk.open(http, `/executions/${id}/output?encoding=base64`)
    await http.ask("POST", `/executions/${id}/input`, { data: "live\n" })

    const { data } = await events.heard("output")

    expect(Output.parse(data)).toMatchObject({ data: "bGl2ZQo=", encoding: "base64" })
    await cancel(id)
    await events.done
    expect(events.events.at(-1)?.event).toBe("completed")
  })
})

describe("a reader that does not read", () => {
  // For ten readers together several times the memory that the service may take.
  const bytes = byScale({ short: 60_000_000, full: 150_000_000, long: 150_000_000 })

  test(
    "costs the service nothing: what waits, waits on disk",
    async () => {
      const url = await service.url("/")
      using readers = new DisposableStack()
      const id = await start({ command: `head -c ${bytes} /dev/zero` })
      for (let count = 0; count < 10; count += 1) {
        const reader = readers.use(await TcpTalk.connect(url))
        await reader.ask(`GET /executions/${id}/output`, { Host: new URL(url).host })
        reader.goDeaf()
      }

      await ended(id)

      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(200)
      expect((await http.fetch("/health")).status).toBe(200)
    },
    timeoutMs,
  )

  test(
    "is let go of when it leaves",
    async () => {
      const id = await start({ argv: ["cat"], stdin: "pipe" })
      const url = await service.url("/")
      const headers = { Host: new URL(url).host, Accept: "text/event-stream" }
      using readers = new DisposableStack()
      for (let count = 0; count < 10; count += 1) {
        const reader = readers.use(await TcpTalk.connect(url))
        await reader.ask(`GET /executions/${id}/output`, headers)
      }
      const held = openFiles()

      readers.dispose()

      await until("its connections are closed", () => openFiles() <= held - 10)
      await cancel(id)
    },
    timeoutMs,
  )
})

describe("a page of a transcript", () => {
  test(
    "is read as it is taken, and is whole however long it is",
    async () => {
      const id = await start({ command: "seq 1 1200000" })
      const { bytes } = await ended(id)
      const page = methods["transcript.read"].result
      let text = ""
      let from = "start"
      for (let isOver = false; !isOver; ) {
        const path = `/executions/${id}/transcript?limit_bytes=5000000&from=${from}`
        const { chunks, next, ended: isLast } = await http.call(page, "GET", path)
        const part = chunks.map(({ data }) => data).join("")
        expect(part.length).toBeLessThan(5_100_000)
        text += part
        from = next
        isOver = isLast
      }
      expect(text.length).toBe(bytes.stdout)
      expect(text.endsWith("\n1199999\n1200000\n")).toBe(true)
    },
    timeoutMs,
  )

  test(
    "waits on disk for those who do not read it",
    async () => {
      await using other = await Service.start()
      const url = await other.url("/")
      const talk = new HttpTalk(url.replace(/\/$/, ""))
      const command = { command: "seq 1 1200000" }
      const { execution_id } = await talk.call(ExecuteResult, "POST", "/executions", command)
      await hashOf(await talk.fetch(`/executions/${execution_id}/output`))
      using readers = new DisposableStack()
      for (let count = 0; count < 30; count += 1) {
        const reader = readers.use(await TcpTalk.connect(url))
        const path = `/executions/${execution_id}/transcript?limit_bytes=8388608`
        await reader.ask(`GET ${path}`, { Host: new URL(url).host })
        reader.goDeaf()
      }
      expect((await talk.fetch("/health")).status).toBe(200)
      expect(memoryOf(other.gatewayPid).peakMb).toBeLessThan(250)
    },
    timeoutMs,
  )
})

describe("a body without end", () => {
  test(
    "is refused at its limit",
    async () => {
      const megabyte = new Uint8Array(1_000_000).fill(32)
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(megabyte),
      })
      const headers = { "Content-Type": "application/json" }
      const response = await http.fetch("/executions", { method: "POST", headers, body })

      expect(await refusalOf(response)).toMatchObject({ status: 413, reason: "INVALID_REQUEST" })
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(200)
    },
    timeoutMs,
  )
})

async function hashOf(response: Response): Promise<{ bytes: number; hash: string }> {
  const hasher = new Bun.CryptoHasher("sha256")
  let bytes = 0
  for await (const piece of response.body ?? []) {
    hasher.update(piece)
    bytes += piece.length
  }
  return { bytes, hash: hasher.digest("hex") }
}

function openFiles(): number {
  return readdirSync(`/proc/${service.gatewayPid}/fd`).length
}
