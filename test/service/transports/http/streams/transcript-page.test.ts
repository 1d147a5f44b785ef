import { describe, expect, test } from "bun:test"
import { fail, ok } from "../../../../../src/lib/result.ts"
import { failure } from "../../../../../src/protocol/failure.ts"
import { methods, type ParsedParamsOf, type ResultOf } from "../../../../../src/protocol/methods.ts"
import { TranscriptPage } from "../../../../../src/service/transports/http/streams/transcript-page.ts"

type Part = ResultOf<"transcript.read">

const params: ParsedParamsOf<"transcript.read"> = {
  execution_id: "e",
  from: "start",
  limit_bytes: 1000,
  encoding: "utf8",
}

function part(data: string[], change: Partial<Part> = {}): Part {
  const time = "2026-11-16T00:00:00.000Z"
  const chunks = data.map((text) => {
    return { type: "stdout", data: text, sequence: 0, next: "n", time, truncated: false } as const
  })
  return { chunks, next: data.at(-1) ?? "", ended: false, ...change }
}

/** The page that a list of parts makes, and what was asked for on the way. */
async function pageOf(first: Part, rest: Part[], limit_bytes = 1000) {
  const asked: ParsedParamsOf<"transcript.read">[] = []
  const page = new TranscriptPage(first, { ...params, limit_bytes }, async (wanted) => {
    asked.push(wanted)
    const next = rest.shift()
    return next === undefined ? fail(failure("INTERNAL", "damaged")) : ok(next)
  })
  let text = ""
  for (let piece = await page.next(); piece !== null; piece = await page.next()) {
    text += new TextDecoder().decode(piece)
  }
  const read = methods["transcript.read"].result.parse(JSON.parse(text))
  return { read, asked, data: read.chunks.map(({ data }) => data) }
}

describe("a page that is read in parts", () => {
  test("is the JSON of all of them, up to the end", async () => {
    const { read, asked, data } = await pageOf(part(["a"]), [
      part(["b", "c"]),
      part(["d"], { ended: true }),
    ])
    expect(data).toEqual(["a", "b", "c", "d"])
    expect(read).toMatchObject({ next: "d", ended: true })
    expect(asked.map(({ from }) => from)).toEqual(["a", "c"])
  })

  test("ends at its limit", async () => {
    const { data, asked } = await pageOf(part(["12345"]), [part(["67890"])], 10)
    expect(data).toEqual(["12345", "67890"])
    expect(asked.map(({ limit_bytes }) => limit_bytes)).toEqual([5])
  })

  test("ends where there is nothing more for now", async () => {
    const { read, data } = await pageOf(part(["a"]), [part([])])
    expect(data).toEqual(["a"])
    expect(read).toMatchObject({ next: "a", ended: false })
  })

  test("tells the gap before it, and ends before the next", async () => {
    const gap = { from: "x", next: "y", bytes: 5, lines: 1, reason: "budget" }
    const { read, data } = await pageOf(part(["a"], { gap }), [part(["b"], { gap })])
    expect(data).toEqual(["a"])
    expect(read).toMatchObject({ gap, next: "a", ended: false })
  })

  test("may begin with nothing", async () => {
    expect((await pageOf(part([]), [part([])])).data).toEqual([])
  })

  test("breaks off when a part cannot be read", async () => {
    const page = new TranscriptPage(part(["a"]), params, async () =>
      fail(failure("INTERNAL", "The transcript is damaged.")),
    )
    await page.next()
    expect(page.next()).rejects.toThrow("damaged")
  })
})
