import { describe, expect, test } from "bun:test"
import { auditAttempts } from "../support/audit-lines.ts"
import { type FollowedOutput, followToEnd, libraryClient } from "../support/followed-output.ts"
import { ListedNodes } from "../support/listed-nodes.ts"
import { memoryOf } from "../support/memory-of.ts"
import { seed } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { TcpCutter } from "../support/tcp-cutter.ts"
import { until } from "../support/until.ts"

const onB = { labels: { on: "b" } }
const lines = 60_000
// Long enough for several cuts, however fast the machine is: half of it waits for a word.
const halting = `seq 1 ${lines}; read go; seq 1 ${lines}`

describe("a reader of another node's execution", () => {
  test("misses nothing and gets nothing twice, however often the nodes are cut apart", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    // In the middle of frames, of greetings, of handshakes: wherever that is.
    const random = seededRandom(seed)
    const cuts = Array.from({ length: 25 }, () => 500 + random(40_000))
    using cutter = new TcpCutter(nodes.node("b").port, cuts)
    nodes.list({ b: cutter.address })
    await using client = libraryClient(await nodes.node("a").service.url())
    await using there = libraryClient(await nodes.node("b").service.url())
    const started = client.execute({ command: halting, stdin: "pipe", ...onB })
    const execution = await started
    let seen = 0
    const followed = followToEnd(execution, (bytes) => void (seen = bytes))
    await until("half of it", () => seen >= halfBytes)
    await there.input(execution.id).write("\n")

    const read: FollowedOutput = await followed

    expectAll(read)
    expect(cutter.connections).toBeGreaterThan(8)
  }, 60_000)

  test("goes on when the other node's gateway is killed", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    await using client = libraryClient(await nodes.node("a").service.url())
    const execution = await client.execute({ command: halting, stdin: "pipe", ...onB })
    let seen = 0
    const followed = followToEnd(execution, (bytes) => void (seen = bytes))
    await until("half of it", () => seen >= halfBytes)

    process.kill(nodes.node("b").service.gatewayPid, "SIGKILL")
    await until("input is taken", () =>
      execution.write("\n").then(
        () => true,
        () => false,
      ),
    )

    expectAll(await followed)
  }, 60_000)

  test("goes on when this node's gateway is killed", async () => {
    await using nodes = await ListedNodes.start(["a", "b"], {})
    const { service } = nodes.node("a")
    await using client = libraryClient(await service.url())
    const execution = await client.execute({ command: halting, stdin: "pipe", ...onB })
    let seen = 0
    const followed = followToEnd(execution, (bytes) => void (seen = bytes))
    await until("some of it", () => seen > 0)

    process.kill(service.gatewayPid, "SIGKILL")
    await until("half of it", () => seen >= halfBytes)
    await execution.write("\n")

    expectAll(await followed)
  }, 60_000)

  test("is told that it was lost when the other node's keeper is killed", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    await using client = libraryClient(await nodes.node("a").service.url())
    const execution = await client.execute({ command: "echo one; sleep 1000", ...onB })
    let seen = 0
    const followed = followToEnd(execution, (bytes) => void (seen = bytes))
    await until("its output", () => seen === 4)

    nodes.node("b").service.kill("SIGKILL")
    await nodes.node("b").service.exited
    await until("the lock is free", () =>
      nodes.again("b").then(
        () => true,
        () => false,
      ),
    )

    const { bytes, completed } = await followed
    expect(bytes.stdout).toBe(4)
    expect(completed.outcome).toBe("lost")
  }, 60_000)

  test("who is slow holds up nobody, and costs neither node its memory", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    const { service } = nodes.node("a")
    await using client = libraryClient(await service.url())
    const flood = { argv: ["seq", "1", "6000000"], encoding: "binary" as const, ...onB }
    const before = memoryOf(service.gatewayPid).nowMb
    const slow = Array.from({ length: 8 }, () => new SlowReader(nodes))
    await Promise.all(slow.map((reader) => reader.start(flood)))

    const execution = await client.execute({ argv: ["seq", "1", "500000"], ...onB })
    const { kinds } = await followToEnd(execution)

    expect(kinds).toEqual(["started", "completed"])
    // Forty-nine megabytes each: all of it would be four hundred.
    expect(memoryOf(service.gatewayPid).peakMb - before).toBeLessThan(100)
    for (const reader of slow) reader[Symbol.dispose]()
  }, 60_000)

  test("holds a lease on it, and a node that is gone lets it go", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    await using there = libraryClient(await nodes.node("b").service.url())
    const client = libraryClient(await nodes.node("a").service.url())
    const request = { command: "sleep 1000", on_disconnect: "cancel" as const, ...onB }
    const execution = await client.execute(request)
    const { id } = execution
    await Bun.sleep(500) // that it is not cancelled at once is what this is about
    expect((await there.call("status", { execution_id: id })).state).toBe("running")

    await client.close()

    const ended = await until("its end", async () => {
      const view = await there.call("status", { execution_id: id })
      return view.state === "ended" ? view : null
    })
    expect(ended.ending?.cause).toBe("disconnected")
  }, 60_000)
})

describe("what was asked of another node", () => {
  test("stands in the trails of both, under the name that it has on each", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    await using client = libraryClient(await nodes.node("a").service.url())
    const execution = await client.execute({ command: "sleep 1000", ...onB })
    await execution.cancel()
    const { id } = execution

    const here = await trail(nodes, "a", id)
    const there = await trail(nodes, "b", id)

    expect(here).toContainEqual(["execute", "local", undefined, "b", "allowed"])
    expect(here).toContainEqual(["control", "local", undefined, "b", "allowed"])
    expect(there).toContainEqual(["execute", "local@a", "a", undefined, "allowed"])
    expect(there).toContainEqual(["control", "local@a", "a", undefined, "allowed"])
  }, 60_000)

  test("is refused in words when nobody is there, and says that nothing was done", async () => {
    await using nodes = await ListedNodes.start(["a", "b"])
    await nodes.node("b").service[Symbol.asyncDispose]()
    await using client = libraryClient(await nodes.node("a").service.url())

    const refused = client.call("execute", { command: "echo hi", ...onB })

    const why = await refused.then(
      () => "started",
      (error: unknown) => String(error),
    )
    expect(why).toContain("Node b (127.0.0.1:")
    expect(why).toContain("cannot be reached")
  }, 60_000)
})

const half = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("")
const halfBytes = half.length

function expectAll({ kinds, hashes, bytes }: FollowedOutput): void {
  expect(kinds).toEqual(["started", "completed"])
  expect(bytes.stdout).toBe(2 * halfBytes)
  expect(hashes.stdout).toBe(new Bun.CryptoHasher("sha256").update(half + half).digest("hex"))
}

async function trail(nodes: ListedNodes, name: string, id: string) {
  const { stateDir } = nodes.node(name).service
  return until(`the trail of ${name}`, () => {
    const about = auditAttempts(stateDir).filter(({ execution_id }) => execution_id === id)
    const told = about.map(({ method, principal, from_node, to_node, outcome }) => [
      method,
      principal,
      from_node,
      to_node,
      outcome,
    ])
    return told.some(([method]) => method === "control") ? told : null
  })
}

/** Starts a flood on another node, and takes nothing of it. */
class SlowReader implements Disposable {
  readonly #nodes: ListedNodes
  #socket: WebSocket | null = null

  constructor(nodes: ListedNodes) {
    this.#nodes = nodes
  }

  async start(params: unknown): Promise<void> {
    const url = await this.#nodes.node("a").service.url()
    const socket = new WebSocket(url)
    this.#socket = socket
    const started = Promise.withResolvers<void>()
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "execute", params })),
    )
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string" && data.includes('"id":1')) started.resolve()
    })
    await started.promise
  }

  [Symbol.dispose](): void {
    this.#socket?.close()
  }
}
