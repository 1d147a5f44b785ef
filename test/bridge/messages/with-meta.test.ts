import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type RequestMessage, readMessages } from "../../../src/bridge/messages/message.ts"
import { withMeta } from "../../../src/bridge/messages/with-meta.ts"

const key = "cc-executor/idempotency-key"

function request(text: string): RequestMessage {
  const [read] = readMessages(text)
  if (read?.ok !== true || read.value.kind !== "request") throw new Error(`no request: ${text}`)
  return read.value
}

describe("a request that is given something in its _meta", () => {
  test.each([
    [
      `{"jsonrpc":"2.0","id":1,"method":"m"}`,
      `{"params":{"_meta":{"k":1}},"jsonrpc":"2.0","id":1,"method":"m"}`,
    ],
    [`{"id":1,"method":"m","params":{ }}`, `{"id":1,"method":"m","params":{"_meta":{"k":1} }}`],
    [
      `{"id":1,"method":"m","params":{"a":[{"_meta":5}]}}`,
      `{"id":1,"method":"m","params":{"_meta":{"k":1},"a":[{"_meta":5}]}}`,
    ],
    [
      `{"id":1,"method":"m","params":{"_meta":{"progressToken":1.0}}}`,
      `{"id":1,"method":"m","params":{"_meta":{"k":1,"progressToken":1.0}}}`,
    ],
  ])("%s becomes %s", (before, after) => {
    expect(withMeta(request(before), { k: 1 }).text).toBe(after)
  })

  test("keeps every other character: numbers no machine can hold, the order of fields", () => {
    const before =
      '{"id":1,"method":"m","params":{"n":12345678901234567890,"e":1e400,"z":1,"a":"\\u00e9"}}'

    const after = withMeta(request(before), { k: 1 }).text

    expect(after.replace('"_meta":{"k":1},', "")).toBe(before)
  })

  test("keeps what it had under the same name", () => {
    const before = `{"id":1,"method":"m","params":{"_meta":{"${key}":"mine"}}}`

    expect(withMeta(request(before), { [key]: "other" }).text).toBe(before)
  })

  test.each([`{"id":1,"method":"m","params":[1]}`, `{"id":1,"method":"m","params":{"_meta":7}}`])(
    "%s has no place for it, and stays as it is",
    (text) => {
      expect(withMeta(request(text), { k: 1 }).text).toBe(text)
    },
  )

  test("is otherwise the same value, whatever it holds", () => {
    const params = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(params, fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const plain = { id: 1, method: "tools/call", params: { ...value, _meta: { x: [1, "}"] } } }
        const text = JSON.stringify(plain, null, indent)

        const after: unknown = JSON.parse(withMeta(request(text), { k: { env: "{" } }).text)

        const meta = { ...plain.params._meta, k: { env: "{" } }
        expect(after).toEqual(
          JSON.parse(
            JSON.stringify({
              ...plain,
              params: { ...plain.params, _meta: meta },
            }),
          ),
        )
      }),
    )
  })
})
