import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { CallError } from "../../../src/client/client-error.ts"
import type { ExecutionEvent } from "../../../src/client/output/execution-event.ts"
import type { Encoding } from "../../../src/protocol/execute.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { CuttingProxy } from "../../support/cutting-proxy.ts"
import {
  allEvents,
  bytesOf,
  kindsOf,
  quickClient,
  readUntil,
  rejection,
  textOf,
} from "../../support/following.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

describe("an execution's output", () => {
  test("comes in order: started, output, completed", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      server.write(execution, "one\n")
      server.write(execution, "two\n")
      server.complete(execution, 0)
    }

    const execution = await client.execute({ command: "scripted" })
    const events = await allEvents(execution)

    expect(kindsOf(events)).toEqual(["started", "output", "output", "completed"])
    expect(textOf(events)).toBe("one\ntwo\n")
    expect(await execution.ended).toMatchObject({ status: "completed", exit_code: 0 })
    expect(execution.pid).toBe(1001)
  })

  test("waits for whoever calls output() late", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      server.write(execution, "early")
      server.complete(execution, 3)
    }

    const execution = await client.execute({ command: "scripted" })
    await execution.ended
    const events = await allEvents(execution)

    expect(textOf(events)).toBe("early")
  })

  const encodings: Encoding[] = ["utf8", "base64", "binary"]
  test.each(encodings)("arrives byte for byte in %s", async (encoding) => {
    const text = "grüße, 世界 🎉\n"
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      server.write(execution, text)
      execution.append("stderr", Buffer.from("oops"))
      server.complete(execution, 0)
    }

    const execution = await client.execute({ command: "scripted", encoding })
    const chunks = outputsIn(await allEvents(execution))

    expect(chunks.map((chunk) => chunk.stream)).toEqual(["stdout", "stderr"])
    expect(textOf(chunks)).toBe(`${text}oops`)
    expect(chunks[0]?.text).toBe(encoding === "utf8" ? text : null)
    expect(chunks.map((chunk) => chunk.next)).toEqual(["at-1", "at-2"])
  })

  test("in binary goes to the execution whose subscription it carries", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const one = await client.execute({ command: "one", encoding: "binary" })
    const two = await client.execute({ command: "two", encoding: "binary" })

    for (const execution of server.executions.toReversed()) server.write(execution, execution.id)
    for (const execution of server.executions) server.complete(execution, 0)

    expect(textOf(await allEvents(one))).toBe(one.id)
    expect(textOf(await allEvents(two))).toBe(two.id)
  })

  test("that the server forgot is told as a gap", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      execution.records.push({ kind: "gap", bytes: 500, lines: 7 })
      server.write(execution, "rest")
      server.complete(execution, 0)
    }

    const execution = await client.execute({ command: "scripted" })
    const events = await allEvents(execution)

    expect(kindsOf(events)).toEqual(["started", "gap", "output", "completed"])
    expect(events[1]).toMatchObject({ bytes: 500, lines: 7, from: "at-0", next: "at-1" })
  })

  test("has one consumer at a time; the next one goes on where it stopped", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      for (const text of ["one ", "two ", "three"]) server.write(execution, text)
      server.complete(execution, 0)
    }
    const execution = await client.execute({ command: "scripted" })

    const first = await readUntil(execution, "one")
    const cursor = execution.cursor()
    const second = execution.output()

    expect(first).toBe("one ")
    expect(cursor).toBe("at-1")
    expect(() => execution.output()).toThrow("one consumer")
    expect(textOf(await Array.fromAsync(second))).toBe("two three")
  })
})

describe("connections that break anywhere, again and again", () => {
  const cuts = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 8 })
  const records = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 30 })
  const encodings = fc.constantFrom<Encoding>("base64", "binary")
  // The small bound makes the client detach and attach all the time, the large one never.
  const bounds = fc.constantFrom(1_000, 1_000_000)

  test("cost nothing and repeat nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        cuts,
        records,
        encodings,
        bounds,
        async (cutAfterBytes, written, encoding, queueBytes) => {
          await using server = new ScriptedServer()
          using proxy = new CuttingProxy(server.port, cutAfterBytes)
          await using client = quickClient(proxy.url, { limits: { queueBytes, statusEveryMs: 1 } })
          server.onExecute = (execution) => {
            for (const bytes of written) server.write(execution, bytes)
            server.complete(execution, 0)
          }

          const execution = await client.execute({ command: "scripted", encoding })
          const events = await allEvents(execution)

          const kinds = ["started", ...written.map(() => "output"), "completed"]
          expect(kindsOf(events)).toEqual(kinds)
          expect(Buffer.compare(bytesOf(events), Buffer.concat(written))).toBe(0)
          expect(server.executions).toHaveLength(1)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe("after a reconnect", () => {
  test("the client attaches again, with its role and encoding, after what it has", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    server.write(scripted, "before ")
    const role = "driver"
    const execution = await client.attach(scripted.id, { role, encoding: "base64" })
    await readUntil(execution, "before")

    server.cut()
    await server.until(() => server.seen("attach").length === 2)
    server.write(scripted, "after")
    server.complete(scripted, 0)

    expect(textOf(await allEvents(execution))).toBe("after")
    expect(server.seen("attach")[1]?.params).toEqual({
      execution_id: scripted.id,
      from: "at-1",
      role: "driver",
      encoding: "base64",
      acknowledges: true,
    })
  })

  test("tail means where the tail was at first", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    server.write(scripted, "old")
    const execution = await client.attach(scripted.id, { from: "tail" })

    server.cut()
    server.write(scripted, "new")
    server.complete(scripted, 0)

    expect(textOf(await allEvents(execution))).toBe("new")
  })

  test("life signs that were missed are made up for, and none is told twice", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      execution.state = "queued"
    }
    const execution = await client.execute({ command: "scripted" })
    expect(execution.pid).toBeNull()
    const [scripted] = server.executions
    if (scripted === undefined) throw new Error("nothing was executed")

    await server.stop()
    scripted.state = "paused"
    server.start()
    await server.until(() => server.seen("attach").length === 1)
    server.change(scripted, "paused")
    server.change(scripted, "running")
    server.complete(scripted, null)

    const kinds = kindsOf(await allEvents(execution))
    expect(kinds).toEqual(["started", "paused", "resumed", "canceled", "completed"])
    expect(execution.pid).toBe(scripted.pid)
  })

  test.each(["PROCESS_NOT_FOUND", "EXPIRED"] as const)("%s ends it with that", async (reason) => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    server.write(scripted, "kept")
    const execution = await client.attach(scripted.id)

    server.next("attach", { kind: "refuse", failure: failure(reason, "gone") })
    const texts: ExecutionEvent[] = []
    const reading = (async () => {
      for await (const event of execution.output()) {
        texts.push(event)
        if (event.kind === "output") server.cut()
      }
    })()

    const error = await rejection(reading)
    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ failure: { reason } })
    expect(await rejection(execution.ended)).toBe(error)
    expect(textOf(texts)).toBe("kept")
  })

  test("a refusal that will pass is waited out", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    const execution = await client.attach(scripted.id)

    const notNow = failure("RATE_LIMITED", "Not so fast.", { retry_after: 0.01 })
    server.next("attach", { kind: "refuse", failure: notNow }, { kind: "refuse", failure: notNow })
    server.cut()
    server.write(scripted, "in the end")
    server.complete(scripted, 0)

    expect(textOf(await allEvents(execution))).toBe("in the end")
  })
})

describe("output that the server cannot read any more", () => {
  test("fails, but the end is still learned", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits: { statusEveryMs: 5 } })
    const execution = await client.execute({ command: "scripted" })
    const [scripted] = server.executions
    if (scripted === undefined) throw new Error("nothing was executed")

    const damaged = { code: -32603, message: "damaged", data: { reason: "INTERNAL" } }
    server.notify(scripted, "process.error", { error: damaged })
    const error = await rejection(allEvents(execution))
    server.complete(scripted, 9)

    expect(error).toMatchObject({ failure: { reason: "INTERNAL", message: "damaged" } })
    expect(await execution.ended).toMatchObject({ exit_code: 9 })
  })

  test("a notice of another shape fails the execution it is about, not the others", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const broken = await client.execute({ command: "one" })
    const sound = await client.execute({ command: "two" })
    const [one, two] = server.executions
    if (one === undefined || two === undefined) throw new Error("nothing was executed")

    server.notify(one, "process.completed", { status: "dreaming" })
    server.complete(two, 0)

    expect(await rejection(broken.ended)).toMatchObject({ failure: { reason: "INTERNAL" } })
    expect(await sound.ended).toMatchObject({ exit_code: 0 })
  })
})

function outputsIn(events: ExecutionEvent[]): Array<Extract<ExecutionEvent, { kind: "output" }>> {
  return events.filter((event) => event.kind === "output")
}
