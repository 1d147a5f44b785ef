import { describe, expect, test } from "bun:test"
import type { JSONRPCMessage } from "@modelcontextprotocol/server"
import { SocketTransport } from "../../../../../src/service/transports/mcp/sessions/socket-transport.ts"

describe("answers to a client that does not read", () => {
  test("wait, and each drain lets one of them pass", async () => {
    const { transport, sent, socket } = opened()
    socket.isFull = true

    for (const id of [1, 2, 3]) void transport.send(answerTo(id))
    await settled()
    const beforeTheDrain = [...sent]
    transport.drained()
    await settled()

    expect(beforeTheDrain).toEqual([1])
    expect(sent).toEqual([1, 2])
  })

  test("pass in order when there is room again", async () => {
    const { transport, sent, socket } = opened()
    socket.isFull = true
    for (const id of [1, 2, 3, 4]) void transport.send(answerTo(id))
    await settled()

    socket.isFull = false
    transport.drained()
    await settled()

    expect(sent).toEqual([1, 2, 3, 4])
  })

  test("are never put into text once it is gone", async () => {
    const { transport, sent, socket } = opened()
    let made = 0
    const costly = { toJSON: () => made++ }
    socket.isFull = true
    await transport.send(answerTo(1))
    const sending = [2, 3].map((id) => transport.send({ jsonrpc: "2.0", id, result: { costly } }))

    transport.closed()
    await Promise.all(sending)

    expect(sent).toEqual([1])
    expect(made).toBe(0)
  })
})

describe("of what a client asks", () => {
  test("only so much is begun at once, and the next with every answer", async () => {
    const { transport, begun } = opened()

    for (let id = 1; id <= 20; id++) transport.receive(call(id, "output"))
    const atFirst = [...begun]
    await transport.send(answerTo(3))

    expect(atFirst).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(begun).toEqual([...atFirst, 9])
  })

  test("what waits for executions does not count", () => {
    const { transport, begun } = opened()

    for (let id = 1; id <= 20; id++) transport.receive(call(id, id % 2 === 0 ? "run" : "wait"))

    expect(begun).toHaveLength(20)
  })

  test("nothing is begun that it has no room to be answered", async () => {
    const { transport, begun, socket } = opened()
    socket.isFull = true
    await transport.send(answerTo(0))

    transport.receive(call(1, "output"))
    transport.receive(call(2, "run"))
    const whileFull = [...begun]
    transport.drained()

    expect(whileFull).toEqual([2])
    expect(begun).toEqual([2, 1])
  })

  test("what is canceled before it was begun never is", async () => {
    const { transport, begun } = opened()
    for (let id = 1; id <= 10; id++) transport.receive(call(id, "output"))

    transport.receive(cancellationOf(9))
    await transport.send(answerTo(1))

    expect(begun).not.toContain(9)
    expect(begun).toContain(10)
  })

  test("what is canceled makes room for the next", () => {
    const { transport, begun } = opened()
    for (let id = 1; id <= 10; id++) transport.receive(call(id, "output"))

    transport.receive(cancellationOf(2))

    expect(begun).toContain(9)
    expect(begun).not.toContain(10)
  })
})

function opened() {
  const sent: unknown[] = []
  const begun: unknown[] = []
  const socket = {
    isFull: false,
    send(text: string): number {
      sent.push(JSON.parse(text).id)
      return this.isFull ? -1 : text.length
    },
    close: () => undefined,
  }
  const onmessage = (message: JSONRPCMessage) => {
    if ("id" in message) begun.push(message.id)
  }
  const transport = new SocketTransport(socket, {
    reportGarbage: () => undefined,
    settled: () => undefined,
  })
  Object.assign(transport, { onmessage })
  return { transport, sent, begun, socket }
}

function answerTo(id: number): JSONRPCMessage {
  return { jsonrpc: "2.0", id, result: {} }
}

function call(id: number, name: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name } }
}

function cancellationOf(requestId: number): JSONRPCMessage {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }
}

/** All that waits for nothing but its turn has had it. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
