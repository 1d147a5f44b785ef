import { describe, expect, test } from "bun:test"
import { keeperBroke, settled } from "../../../support/scripted-link.ts"
import { StagedExecution } from "../../../support/staged-execution.ts"
import { connect } from "./connected-session.ts"

describe("what is asked", () => {
  test("is answered with the id it came with, and a notification not at all", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    const id = ask("status", { execution_id: staged.id })
    await session.receive('{"jsonrpc":"2.0","method":"status","params":{}}')
    await settled()

    expect(connection.order).toEqual([id])
    expect(connection.answerTo(id)?.result).toMatchObject({ execution_id: staged.id })
  })

  test("past 256 requests under way is refused, with when to ask again", async () => {
    using staged = new StagedExecution()
    const { connection, ask } = connect(staged.operations)
    const control = { type: "PAUSE", execution_id: staged.id }
    for (let count = 0; count < 256; count += 1) ask("control", control)
    const tooMany = ask("control", control)
    await settled()

    expect(connection.order).toEqual([tooMany])
    const data = { reason: "RATE_LIMITED", retry_after: 1 }
    expect(connection.answerTo(tooMany)?.error).toMatchObject({ code: -32005, data })
    const paused = { status: "paused", execution_id: staged.id }
    await staged.link.callTo("control").answer(paused)
    const again = ask("control", control)
    await settled()
    await staged.link.callTo("control", 256).answer(paused)
    expect(connection.answerTo(again)?.result).toEqual(paused)
  })

  test("and fails in an unexpected way is told as such, and logged", async () => {
    using staged = new StagedExecution()
    const operations = { ...staged.operations, remove: () => Promise.reject(new Error("a bug")) }
    const { connection, log, ask } = connect(operations)
    const id = ask("remove", { execution_id: staged.id })
    await settled()

    expect(connection.answerTo(id)?.error?.data.reason).toBe("INTERNAL")
    expect(log.events).toEqual(["request failed"])
  })

  test("names the latest execution by default, even before that was answered", async () => {
    using staged = new StagedExecution()
    const { ask } = connect(staged.operations)
    ask("execute", { command: "sleep 1" })
    ask("control", { type: "PAUSE" })
    await settled()
    expect(staged.link.methods).toEqual(["start"])

    await staged.link.callTo("start").answer({ record: staged.record, repeated: false })

    expect(staged.link.callTo("control").params).toMatchObject({ executionId: staged.id })
  })
})

describe("a watch", () => {
  test("that is asked for again and again asks the keeper once", async () => {
    using staged = new StagedExecution()
    const { session, ask } = connect(staged.operations)
    for (let count = 0; count < 100; count += 1) ask("watch", { labels: { count: `${count}` } })
    await settled()
    expect(staged.link.methods).toEqual(["watch"])

    session[Symbol.dispose]()

    expect(staged.link.methods).toEqual(["watch", "watch"])
  })
})

describe("a large read", () => {
  test("waits while the client does not take what it was sent before", async () => {
    using staged = new StagedExecution()
    staged.write("some output\n")
    const { connection, session, ask } = connect(staged.operations)
    const read = { execution_id: staged.id }
    connection.isFull = true
    const first = ask("transcript.read", read)
    const second = ask("transcript.read", read)
    const small = ask("watch", {})
    await turns(5)
    expect(connection.order).toEqual([small])

    connection.isFull = false
    session.drained()
    await turns(5)

    expect(connection.order).toEqual([small, first, second])
  })

  test("is not made for a client that is gone", async () => {
    using staged = new StagedExecution()
    const { session, ask } = connect(staged.operations)
    for (let count = 0; count < 5; count += 1) ask("transcript.read", { execution_id: staged.id })
    session[Symbol.dispose]()
    await turns(10)

    expect(staged.link.methods).toEqual([])
  })
})

describe("an execution's life", () => {
  test("is told in order: the answer, its start, its output, its end", async () => {
    using staged = new StagedExecution()
    const { connection, ask } = connect(staged.operations)
    const id = ask("execute", { command: "echo hi" })
    await settled()
    await staged.link.callTo("start").answer({ record: staged.record, repeated: false })
    staged.write("hi\n")
    staged.change({ kind: "paused", pid: 4242 })
    staged.change({ kind: "running", pid: 4242 })
    staged.end()

    const life = ["process.output", "process.paused", "process.resumed", "process.completed"]
    expect(connection.order).toEqual([id, "process.started", ...life])
  })

  test("is told whole even if it is over before its answer is sent", async () => {
    using staged = new StagedExecution()
    const { connection, ask } = connect(staged.operations)
    const id = ask("execute", { command: "echo hi" })
    await settled()
    const { record } = staged
    const answered = staged.link.callTo("start").answer({ record, repeated: false })
    staged.write("hi\n")
    staged.end()
    await answered
    await settled()

    const life = ["process.started", "process.output", "process.completed"]
    expect(connection.order).toEqual([id, ...life])
  })

  test("that an idempotency key found is not told from its start", async () => {
    using staged = new StagedExecution()
    staged.write("hi\n")
    staged.end()
    const { connection, ask } = connect(staged.operations)
    const id = ask("execute", { command: "echo hi", idempotency_key: "k" })
    await settled()
    await staged.link.callTo("start").answer({ record: staged.record, repeated: true })

    expect(connection.order).toEqual([id, "process.output", "process.completed"])
    expect(connection.answerTo(id)?.result).toMatchObject({ repeated: true })
  })

  test("waits on disk while the client is slow, and then goes on", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    ask("attach", { execution_id: staged.id })
    await settled()
    connection.isFull = true
    staged.write("one\n")
    staged.write("two\n")
    staged.write("three\n")
    const before = connection.messages.filter(({ method }) => method === "process.output")

    connection.isFull = false
    session.drained()

    const after = connection.messages.filter(({ method }) => method === "process.output")
    expect(before.map(({ params }) => params?.["data"])).toEqual(["one\n"])
    expect(after.map(({ params }) => params?.["data"])).toEqual(["one\n", "two\nthree\n"])
  })

  test("moves to where it is attached again, under the same number", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    staged.write("one\n")
    const first = ask("attach", { execution_id: staged.id })
    await settled()
    const second = ask("attach", { execution_id: staged.id, encoding: "binary" })
    await settled()
    staged.write("two\n")

    const numbers = [first, second].map((id) => connection.answerTo(id)?.result)
    expect(numbers).toMatchObject([{ subscription: 1 }, { subscription: 1 }])
    expect(session.subscriptions.size).toBe(1)
    expect(connection.messages.filter(({ method }) => method === "process.output")).toHaveLength(1)
    const texts = connection.frames.map((frame) => Buffer.from(frame).toString().slice(-4))
    expect(texts).toEqual(["one\n", "two\n"])
  })

  test("is not told any more after a detach, nor after the session's end", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    ask("attach", { execution_id: staged.id })
    await settled()
    ask("detach", { execution_id: staged.id.slice(0, 8) })
    await settled()
    const sent = connection.messages.length
    staged.write("unheard\n")
    session[Symbol.dispose]()
    await settled()

    expect(connection.messages).toHaveLength(sent)
    expect(staged.live.readerCount).toBe(0)
    expect(staged.link.methods).toEqual(["follow", "find", "unfollow"])
  })

  test("goes on unread when the session ends before the answer", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    ask("execute", { command: "echo hi" })
    await settled()
    session[Symbol.dispose]()
    await staged.link.callTo("start").answer({ record: staged.record, repeated: false })

    expect(connection.messages).toEqual([])
    expect(staged.live.readerCount).toBe(0)
  })

  test("that cannot be started is only refused", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    const id = ask("execute", { command: "echo hi" })
    await settled()
    await staged.link.callTo("start").refuse(keeperBroke)

    expect(connection.order).toEqual([id])
    expect(session.subscriptions.size).toBe(0)
  })

  test("that a key finds to have failed at its start is refused again", async () => {
    using staged = new StagedExecution()
    const { connection, session, ask } = connect(staged.operations)
    const id = ask("execute", { command: "nowhere", idempotency_key: "k" })
    await settled()
    const outcome = { kind: "failed-to-start", errno: "ENOENT", message: "no such file" } as const
    const record = { ...staged.record, leader: null, state: { kind: "ended", outcome } as const }
    await staged.link.callTo("start").answer({ record, repeated: true })

    const data = { reason: "SPAWN_FAILED", errno: "ENOENT" }
    expect(connection.answerTo(id)?.error).toMatchObject({ code: -32009, data })
    expect(session.subscriptions.size).toBe(0)
  })
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await settled()
}
