import { describe, expect, test } from "bun:test"
import { EventStream } from "../../../src/bridge/clients/event-stream.ts"

describe("a stream of events whose client reads slowly", () => {
  test("lets everybody go on who waited for room", async () => {
    const stream = new EventStream(10, () => undefined)
    const response = stream.response({})

    const sent = [stream.send("first, and too long"), stream.send("second, and too long")]
    stream.end()
    const text = await response.text()
    await Promise.all(sent)

    expect(text).toContain("data: first, and too long\n")
    expect(text).toContain("data: second, and too long\n")
  })
})
