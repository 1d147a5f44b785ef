import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { checkParams } from "../../src/protocol/check-params.ts"
import { isMethodName, methods } from "../../src/protocol/methods.ts"

const fields = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`a${number}`, value]))

describe("parameters that are wrong in many places", () => {
  test.each([
    ["an argument list of numbers", { argv: Array.from({ length: 50_000 }, () => 1) }],
    ["an environment of numbers", { argv: ["true"], env: fields(9000, 1) }],
    ["labels of numbers", { argv: ["true"], labels: fields(9000, 1) }],
  ])("%s are told the first of them", (_, params) => {
    const checked = checkParams(methods.execute.params, params)

    if (checked.ok) throw new Error("they were taken")
    expect(checked.failure.length).toBe(20)
    expect(JSON.stringify(checked.failure).length).toBeLessThan(10_000)
  })

  test("are not looked at one by one where a field has too many", () => {
    const checked = checkParams(methods.execute.params, {
      argv: ["true"],
      env: fields(200_000, "1"),
    })

    expect(checked).toMatchObject({ ok: false, failure: [{ path: ["env"] }] })
  })
})

test("a field that no object can hold as its own is refused, and not passed over", () => {
  const labels: unknown = JSON.parse('{"__proto__":"x"}')

  expect(checkParams(methods.list.params, { labels })).toMatchObject({
    ok: false,
    failure: [{ path: ["labels", "__proto__"] }],
  })
})

describe("parameters of any shape", () => {
  const shape = fc.oneof(
    fc.anything({ withNullPrototype: true, withSparseArray: true }),
    fc.jsonValue({ maxDepth: 5 }),
  )
  const names = Object.keys(methods).filter(isMethodName)

  test("are taken or refused with a place, and nothing is thrown", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), shape, (name, params) => {
        const checked = checkParams(methods[name].params, params)
        if (checked.ok) return
        expect(checked.failure.length).toBeGreaterThan(0)
        expect(checked.failure.length).toBeLessThanOrEqual(20)
      }),
      { numRuns: 2000 },
    )
  })

  test("of __proto__ never reach what other objects inherit", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
        const json = JSON.stringify(value)
        const text = `{"__proto__":${json},"env":{"__proto__":${json}},"labels":{"__proto__":"x"}}`
        const checked = checkParams(methods[name].params, JSON.parse(text))
        if (checked.ok) expect(Object.getPrototypeOf(checked.value)).toBe(Object.prototype)
        expect(Object.keys(Object.prototype)).toEqual([])
      }),
    )
  })
})
