import { describe, expect, test } from "bun:test"
import { onOneLine, readMessages } from "../../../src/bridge/messages/message.ts"

const kinds = (text: string): (string | number)[] =>
  readMessages(text).map((read) => (read.ok ? read.value.kind : read.failure.code))

describe("a text", () => {
  test.each([
    [`{"jsonrpc":"2.0","id":1,"method":"m"}`, ["request"]],
    [`{"jsonrpc":"2.0","method":"m"}`, ["notification"]],
    [`{"jsonrpc":"2.0","id":1,"result":{}}`, ["answer"]],
    [`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, ["answer"]],
    [`[{"id":1,"method":"m"},{"method":"n"}]`, ["request", "notification"]],
    [`[]`, [-32600]],
    [`[1,{"method":"n"}]`, [-32600, "notification"]],
    [`{"id":{},"method":"m"}`, [-32600]],
    [`{"id":null,"method":"m"}`, [-32600]],
    [`{"foo":1}`, [-32600]],
    [`"text"`, [-32600]],
    [`{"id":1`, [-32700]],
    ["", [-32700]],
  ])("%s is %j", (text, expected) => {
    expect(kinds(text)).toEqual(expected)
  })

  test("of a batch keeps each message as it was written", () => {
    const texts = readMessages(` [ {"id":1,"method":"m","params":{"n":1.0}} , {"method":"n"} ] `)

    expect(texts.map((read) => read.ok && read.value.text)).toEqual([
      `{"id":1,"method":"m","params":{"n":1.0}}`,
      `{"method":"n"}`,
    ])
  })

  test("of a batch without end is refused as a whole", () => {
    const text = `[${Array.from({ length: 101 }, () => `{"method":"n"}`).join(",")}]`

    expect(kinds(text)).toEqual([-32600])
  })

  test("that has lines becomes one, and means the same", () => {
    const value = { id: 1, method: "m", params: { text: "two\nlines\r\n" } }

    const line = onOneLine(JSON.stringify(value, null, 2))

    expect(line).not.toMatch(/[\r\n]/)
    expect(JSON.parse(line)).toEqual(value)
  })

  test("tells an id that is a number from one that is a text", () => {
    const keys = ["1", '"1"'].map((id) => {
      const [read] = readMessages(`{"id":${id},"method":"m"}`)
      return read?.ok === true && read.value.kind === "request" ? read.value.key : null
    })

    expect(new Set(keys).size).toBe(2)
  })
})
