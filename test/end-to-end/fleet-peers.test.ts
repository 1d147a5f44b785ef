import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type FollowedOutput, followToEnd, libraryClient } from "../support/followed-output.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import { ListedNodes } from "../support/listed-nodes.ts"
import { until } from "../support/until.ts"

let nodes: ListedNodes
let a: string
let b: string

beforeAll(async () => {
  nodes = await ListedNodes.start(["a", "b"])
  a = await nodes.node("a").service.url()
  b = await nodes.node("b").service.url()
}, 60_000)

afterAll(() => nodes[Symbol.asyncDispose]())

const onB = { labels: { on: "b" } }

describe("an execution of another node", () => {
  test("is started, followed and ended through this one, and owned by who asked", async () => {
    await using client = libraryClient(a)
    const execution = await client.execute({ command: "echo hi; echo no >&2", ...onB })

    const { bytes, kinds, completed } = await followToEnd(execution)

    expect(bytes).toEqual({ stdout: 3, stderr: 3 })
    expect(kinds).toEqual(["started", "completed"])
    expect(completed.exit_code).toBe(0)
    await using there = libraryClient(b)
    const view = await there.call("status", { execution_id: execution.id })
    expect(view.principal).toBe("local@a")
  })

  test.each(["utf8", "base64", "binary"] as const)(
    "is followed byte for byte in %s",
    async (encoding) => {
      await using client = libraryClient(a)
      const argv = fixture("mixed-text.ts", 3, 2_000_000)
      const execution = await client.execute({ argv, encoding, ...onB })

      const { bytes, hashes, kinds }: FollowedOutput = await followToEnd(execution)

      expect(kinds).toEqual(["started", "completed"])
      const truth = await runIndependently(argv)
      if (encoding !== "utf8") expect(hashes.stdout).toBe(truth.stdout.hash)
      expect(bytes.stdout).toBeGreaterThan(500_000)
    },
  )

  test("takes input, is paused, resumed, signalled and cancelled", async () => {
    await using client = libraryClient(a)
    const command = "read line; echo got $line; trap 'echo sig' USR1; while :; do sleep 0.05; done"
    const execution = await client.execute({ command, stdin: "pipe", ...onB })
    const followed = followToEnd(execution)

    await execution.write("word\n")
    await until("the answer", async () => {
      const page = await client.call("transcript.read", { execution_id: execution.id })
      return page.chunks.map(({ data }) => data).join("") === "got word\n"
    })
    await execution.pause()
    expect((await client.call("status", { execution_id: execution.id })).state).toBe("paused")
    await execution.resume()
    await execution.signal("USR1")
    const canceled = await execution.cancel()

    expect(canceled.survivors).toEqual([])
    const { kinds, completed } = await followed
    expect(kinds).toEqual(["started", "paused", "resumed", "canceled", "completed"])
    expect(completed.cause).toBe("client")
  })

  test("has its list, receipt, proof, search and removal there", async () => {
    await using client = libraryClient(a)
    const execution = await client.execute({ command: "echo one; echo two", ...onB })
    await followToEnd(execution)
    const execution_id = execution.id

    const { executions } = await client.call("list", { limit: 1000 })
    expect(executions.map((view) => view.execution_id)).toContain(execution_id)
    expect((await client.call("receipt", { execution_id })).signatures).toHaveLength(1)
    const verdict = await client.call("transcript.verify", { execution_id, contains: "two" })
    expect(verdict.verified).toBe(true)
    const found = await client.call("transcript.search", { execution_id, text: "two" })
    expect(found.matches.map(({ line }) => line)).toEqual([1])
    await client.call("remove", { execution_id })
    const gone = client.call("status", { execution_id })
    expect(await gone.catch((error: unknown) => String(error))).toContain("Unknown execution")
  })

  test("is read over HTTP, to its end and no further", async () => {
    await using client = libraryClient(a)
    const execution = await client.execute({ argv: ["seq", "1", "200000"], ...onB })
    const { hashes } = await followToEnd(execution)

    const http = await nodes
      .node("a")
      .service.url(`/executions/${execution.id}/output?follow=false`)
    const raw = await fetch(http)

    expect(raw.status).toBe(200)
    const hash = new Bun.CryptoHasher("sha256").update(await raw.bytes()).digest("hex")
    expect(hash).toBe(hashes.stdout)
  })

  test("is one, however often it is started under one key", async () => {
    await using client = libraryClient(a)
    const request = { command: "echo once", idempotency_key: "the-same", ...onB }

    const [one, other] = await Promise.all([
      client.call("execute", request),
      client.call("execute", request),
    ])

    expect(one.execution_id).toBe(other.execution_id)
    expect([one.repeated, other.repeated].filter(Boolean)).toHaveLength(1)
  })

  test("is watched: every state it comes to", async () => {
    await using client = libraryClient(a)
    const label = crypto.randomUUID()
    using watch = client.watch({ watched: label })
    await watch.ready
    // A watch of another node begins in its own time: the first change is that it has.
    const states: string[] = []
    const seen = (async () => {
      for await (const view of watch) {
        states.push(view.state)
        if (view.state === "ended") return
      }
    })()
    await Bun.sleep(300)
    await client.execute({ command: "sleep 0.2", labels: { on: "b", watched: label } })

    await seen
    expect(states).toContain("running")
    expect(states.at(-1)).toBe("ended")
  })
})

describe("a terminal of another node", () => {
  test("shows its screen, and takes the size of who drives it", async () => {
    await using client = libraryClient(a)
    const command = "printf 'hello'; while :; do stty size; sleep 0.1; done"
    const terminal = { cols: 80, rows: 24 }
    const execution = await client.execute({ command, terminal, ...onB })
    void followToEnd(execution).catch(() => undefined)
    const shown = await until("what it shows", async () => {
      const screen = await client.call("screen", { execution_id: execution.id })
      return screen.data.includes("24 80") ? screen : null
    })
    expect(shown.data).toStartWith("hello")

    await execution.resize(100, 30)
    await until("the new size", async () => {
      const screen = await client.call("screen", { execution_id: execution.id })
      return screen.cols === 100 && screen.data.includes("30 100")
    })
    await using second = libraryClient(a)
    const screen = { scrollback: 10, size: () => null }
    const attached = await second.attach(execution.id, { screen })
    for await (const event of attached.output()) {
      if (event.kind !== "screen") continue
      expect(event.screen.cols).toBe(100)
      break
    }
    await execution.cancel()
  })
})
