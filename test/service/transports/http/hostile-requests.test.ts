import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { z } from "zod"
import { WireError } from "../../../../src/protocol/failure.ts"
import { httpService } from "./http-service.ts"

const Refusal = z.object({ error: WireError })

const numbers = ["0", "-1", "1e3", "9".repeat(16), "9".repeat(40), "0x1", "1.5", "٣", ""]
const value = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(...numbers, "true", "false", "tail:3", "since:x", "a:b", ":", "__proto__"),
)
const name = fc.oneof(
  fc.constantFrom("from", "stream", "follow", "encoding", "limit", "limit_bytes", "state"),
  fc.constantFrom("label", "cursor", "end", "offset", "__proto__", "constructor", "toString"),
  fc.string(),
)
const query = fc.oneof(
  fc
    .array(fc.tuple(name, value), { maxLength: 5 })
    .map((pairs) => new URLSearchParams(pairs).toString()),
  // As no program would write it: signs of percent that begin nothing, and no end of ampersands.
  fc.string({ unit: fc.constantFrom("%", "=", "&", "+", ";", "?", "/", "a", "F", "0", "\\", "é") }),
)

describe("a query of anything", () => {
  const paths = ["/executions", "/events", "/health", "ID", "ID/output", "ID/transcript"]

  test("is answered or refused with a reason, on every route, and never fails", async () => {
    const { get, run, lines } = httpService()
    const { path } = run()
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (route, text) => {
        const response = await get(`${route.replace("ID", path)}?${text}`)
        await expectAnswered(response)
      }),
      { numRuns: 1500 },
    )
    expect(lines.filter(({ level }) => level === "error")).toEqual([])
  })
})

describe("a path of anything", () => {
  test("names an execution, or nothing, and never fails", async () => {
    const { get, lines } = httpService()
    const part = fc.oneof(value.map(inPath), fc.string({ unit: percentUnit }))
    await fc.assert(
      fc.asyncProperty(part, fc.constantFrom("", "/output", "/receipt", "/x"), async (id, rest) => {
        const response = await get(`/executions/${id}${rest}`)
        await expectAnswered(response)
      }),
      { numRuns: 1500 },
    )
    expect(lines.filter(({ level }) => level === "error")).toEqual([])
  })
})

describe("a body of anything", () => {
  const types = ["application/json", "application/octet-stream", "text/plain", "", "a/b;c=\xff"]
  const routes = ["/executions", "ID/input", "ID/control", "ID/verify", "ID/resize"]
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
    fc.dictionary(name, fc.jsonValue()).map((fields) => Buffer.from(JSON.stringify(fields))),
  )

  test("is answered or refused with a reason, on every route, and never fails", async () => {
    const { app, run, lines } = httpService()
    const { path } = run()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        fc.constantFrom(...types),
        body,
        async (route, type, bytes) => {
          const headers = { "Content-Type": type }
          const init = { method: "POST", headers, body: Uint8Array.from(bytes) }
          const response = await app.request(route.replace("ID", path), init)
          await expectAnswered(response)
        },
      ),
      { numRuns: 1500 },
    )
    expect(lines.filter(({ level }) => level === "error")).toEqual([])
  })
})

async function expectAnswered(response: Response): Promise<void> {
  expect(response.status).toBeLessThan(500)
  if (response.status < 400) await response.body?.cancel()
  else expect(Refusal.parse(await response.json()).error.data.reason).not.toBe("INTERNAL")
}

const percentUnit = fc.constantFrom("%", "a", "F", "0", ".", "\\", "é", "~", ":")

/** Half of a pair of surrogates is no character, and has no way to be written in a URL. */
function inPath(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
