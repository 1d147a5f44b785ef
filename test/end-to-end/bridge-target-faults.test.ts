import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BridgeTalk } from "../support/bridge-talk.ts"
import { exampleOverSocket } from "../support/example-server.ts"
import { httpTarget, result, socketTarget } from "../support/scripted-target.ts"
import { executable } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const example = [process.execPath, join(import.meta.dir, "../fixtures/example-mcp-server.ts")]

describe("a target that is not there", () => {
  test.each([
    ["ws://127.0.0.1:1/", "ECONNREFUSED"],
    ["http://127.0.0.1:1/mcp", "ECONNREFUSED"],
    ["stdio: /nonexistent/server", "ENOENT"],
  ])("%s is told with the reason, and what to do", async (to, why) => {
    await using talk = new BridgeTalk(["--to", to, "--retry-for", "300ms"])

    const { error } = await talk.ask("ping")

    expect(error).toMatchObject({ code: -32000, data: { reason: "TARGET_UNREACHABLE" } })
    expect(error.message).toContain(why)
    expect(error.message).toContain("This request was not carried out.")
  })

  test("opens the circuit, which closes when the target is back", async () => {
    const port = httpTarget(() => result(0))
    port[Symbol.dispose]()
    const circuit = ["--circuit-failures", "2", "--circuit-wait", "1s"]
    await using talk = new BridgeTalk(["--to", port.url, "--retry-for", "1m", ...circuit])

    const first = await talk.ask("ping")
    const startedMs = performance.now()
    const second = await talk.ask("ping")
    const tookMs = performance.now() - startedMs
    using _back = httpTarget(({ message }) => result(message.id), port.port)
    const answered = await until("the circuit closes", async () => {
      const { result: closed } = await talk.ask("ping")
      return closed
    })

    expect(first.error.data.reason).toBe("CIRCUIT_OPEN")
    expect(second.error.message).toMatch(
      /circuit to http.* has been open since 20\d\d-.*ECONNREFUSED.*Send the request again in 1 s/s,
    )
    expect(tookMs).toBeLessThan(20_000)
    expect(answered).toEqual({})
  })
})

describe("a target over WebSocket", () => {
  test("whose connection is cut is connected to again, with the client's handshake", async () => {
    using target = exampleOverSocket()
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.open()

    target.cut()
    const { result: sum } = await talk.call("add", { a: 1, b: 2 })

    expect(sum.content[0].text).toBe("3")
    expect(target.opened()).toBe(2)
    expect(talk.answers.map(({ id }) => id)).toEqual([1, 2])
  })

  test("that is cut under calls gets them again", async () => {
    using folder = temporaryFolder()
    const notes = join(folder.path, "notes")
    using target = exampleOverSocket({ notes })
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.open()
    const began = () => readFileSync(notes, "utf8").split("hang began").length - 1

    await talk.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`)
    await until("it hangs", async () => (await Bun.file(notes).exists()) && began() === 1)
    target.cut()
    await until("it hangs again", () => began() === 2)
    await talk.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)

    await until("it is taken back", () => readFileSync(notes, "utf8").endsWith("cancelled\n"))
    expect(talk.answers.map(({ id }) => id)).toEqual([1])
  })

  test("that asked the client something takes it back when it is gone", async () => {
    using target = socketTarget((socket, message) => {
      if (message.method !== "tools/call") return
      socket.send(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
      setTimeout(() => socket.terminate(), 50)
    })
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)

    const taken = await until("it is taken back", () =>
      talk.answers.find(({ method }) => method === "notifications/cancelled"),
    )

    expect(taken.params.requestId).toBe("q")
  })

  test("that sends garbage is heard for the rest", async () => {
    using target = socketTarget((socket, { id }) => {
      socket.send("garbage")
      socket.send(new Uint8Array([0xff, 0xfe]))
      socket.send(`{"jsonrpc":"2.0","id":"nobody's","result":{}}`)
      socket.send(`[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":${id},"result":{}}]`)
    })
    await using talk = new BridgeTalk(["--to", target.url])

    expect((await talk.ask("ping")).result).toEqual({})

    expect(talk.transport.lines).toHaveLength(2)
  })

  test("that sends more than may pass is cut off, and its requests are told", async () => {
    using target = socketTarget((socket) => socket.send("x".repeat(70_000)))
    await using talk = new BridgeTalk(["--to", target.url, "--max-message-bytes", "64k"])

    const { error } = await talk.ask("ping")

    expect(error.message).toContain("more than 65536 bytes")
    expect(target.seen).toHaveLength(1)
  })

  test("that drops every connection is not asked for ever", async () => {
    using target = socketTarget((socket) => socket.terminate())
    await using talk = new BridgeTalk(["--to", target.url, "--retry-for", "2s"])

    const { error } = await talk.ask("ping")

    expect(error.data.reason).toBe("CONNECTION_LOST")
    expect(error.message).toMatch(/sent to .* 6 times/)
    expect(target.seen).toHaveLength(6)
  })
})

describe("a target that sends what its client does not read", () => {
  test("is cut off, and the log says why", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "log")
    const news = JSON.stringify({ method: "notifications/news", params: { x: "x".repeat(50_000) } })
    using target = socketTarget((socket) => {
      for (let count = 0; count < 100; count += 1) socket.send(news)
    })
    const argv = ["--to", target.url, "--max-message-bytes", "64k", "--log-file", file]
    const bridge = Bun.spawn([executable, "bridge", ...argv], {
      stdin: "pipe",
      stdout: "pipe",
      lazy: true, // nobody reads it
    })
    await bridge.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}\n`)
    await bridge.stdin.flush()

    await until("it says so", async () => {
      const log = Bun.file(file)
      return (await log.exists()) && (await log.text()).includes("faster than the client")
    })
    bridge.kill("SIGTERM")
    expect(await bridge.exited).toBe(0)
  })
})

describe("a target that is a program", () => {
  test("is heard in spite of what it prints besides", async () => {
    const env = { ...process.env, CHATTER: "Server running!\n{not json}" }
    await using talk = new BridgeTalk(["--", ...example], env)

    expect((await talk.open()).result.serverInfo.name).toBe("example")

    expect(talk.transport.lines).toHaveLength(1)
  })

  test("and reads nothing is ended with the bridge, whatever waits for it", async () => {
    const large = { jsonrpc: "2.0", id: 1, method: "m", params: { x: "x".repeat(1024 * 1024) } }
    const bridge = Bun.spawn([executable, "bridge", "--", "sleep", "60"], {
      stdin: new Blob([`${JSON.stringify(large)}\n`]),
      stdout: "ignore",
      stderr: "ignore",
      timeout: 20_000,
      killSignal: "SIGKILL",
    })

    expect(await bridge.exited).toBe(0)
  }, 30_000)

  test.each([
    ["die", 6, "CONNECTION_LOST"],
    ["die-once", 1, "MAY_HAVE_BEEN_DONE"],
  ])(
    "and ends at the tool %s has it called %d times",
    async (tool, times, reason) => {
      using folder = temporaryFolder()
      const notes = join(folder.path, "notes")
      const env = { ...process.env, NOTES: notes }
      await using talk = new BridgeTalk(["--circuit-failures", "99", "--", ...example], env)
      await talk.open()
      await talk.ask("tools/list")

      const { error } = await talk.call(tool)

      expect(error.data.reason).toBe(reason)
      expect(readFileSync(notes, "utf8")).toBe("died\n".repeat(times))
      expect((await talk.call("add", { a: 1, b: 1 })).result.content[0].text).toBe("2")
    },
    60_000,
  )
})
