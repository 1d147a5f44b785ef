import { describe, expect, test } from "bun:test"
import type { ResultOf } from "../../../../src/protocol/methods.ts"
import { readChunks } from "../../../../src/service/gateway/operations/read-chunks.ts"
import { StagedExecution } from "../../../support/staged-execution.ts"

type Page = ResultOf<"transcript.read">

async function readPage(
  staged: StagedExecution,
  options: { from?: string; limit_bytes?: number; encoding?: "utf8" | "base64" } = {},
): Promise<Page> {
  const { from = "start", limit_bytes = 1_048_576, encoding = "utf8" } = options
  using feed = await staged.open(from)
  const page = readChunks(feed, { limit_bytes, encoding })
  if (!page.ok) throw new Error(page.failure.message)
  return page.value
}

/** Page by page until nothing will follow. */
async function readAll(staged: StagedExecution, limit_bytes: number): Promise<Page[]> {
  const pages = [await readPage(staged, { limit_bytes })]
  while (pages.at(-1)?.ended === false) {
    const from = pages.at(-1)?.next ?? "start"
    pages.push(await readPage(staged, { from, limit_bytes }))
    if (pages.length > 1000) throw new Error("it does not end")
  }
  return pages
}

function textOf(pages: Page[]): string {
  return pages.flatMap(({ chunks }) => chunks.map(({ data }) => data)).join("")
}

describe("a page of a transcript", () => {
  test("is what is there now, and goes on at its cursor", async () => {
    using staged = new StagedExecution()
    staged.write("out\n")
    staged.write("err\n", "stderr")
    const first = await readPage(staged)
    staged.write("more\n")

    const second = await readPage(staged, { from: first.next })

    expect(first.chunks.map(({ type, data }) => [type, data])).toEqual([
      ["stdout", "out\n"],
      ["stderr", "err\n"],
    ])
    expect([first.ended, second.ended]).toEqual([false, false])
    expect(textOf([second])).toBe("more\n")
  })

  test("of an execution that has not said anything is empty", async () => {
    using staged = new StagedExecution()
    expect(await readPage(staged)).toMatchObject({ chunks: [], ended: false })
    staged.end()
    expect(await readPage(staged)).toMatchObject({ chunks: [], ended: true })
  })

  test("is the last one exactly when nothing will follow it", async () => {
    using staged = new StagedExecution()
    staged.write("a line\n".repeat(20_000))
    expect((await readPage(staged)).ended).toBe(false)
    staged.end()

    const pages = await readAll(staged, 50_000)

    expect(textOf(pages)).toBe("a line\n".repeat(20_000))
    expect(pages.map(({ ended }) => ended).indexOf(true)).toBe(pages.length - 1)
    expect(pages.length).toBeGreaterThan(2)
  })

  test("does not end before half a character that will never be completed", async () => {
    using staged = new StagedExecution()
    staged.write(Buffer.from([0x61, 0xc3]))
    staged.end()

    const pages = await readAll(staged, 1)

    expect(textOf(pages)).toBe("a\uFFFD")
  })

  test("is exact in base64", async () => {
    using staged = new StagedExecution()
    const bytes = crypto.getRandomValues(new Uint8Array(1000))
    staged.write(bytes)

    const { chunks } = await readPage(staged, { encoding: "base64" })

    expect(chunks.every(({ encoding }) => encoding === "base64")).toBe(true)
    const got = Buffer.concat(chunks.map(({ data }) => Buffer.from(data, "base64")))
    expect(got).toEqual(Buffer.from(bytes))
  })

  test("tells what stood before it and was forgotten", async () => {
    using staged = new StagedExecution({ bytes: 1024 })
    for (let line = 0; line < 100; line += 1) staged.write(`${"x".repeat(60)} ${line}\n`)
    staged.end()

    const page = await readPage(staged)

    const { stdout, dropped } = staged.record.transcript
    expect(page.gap).toMatchObject({ bytes: dropped.bytes, lines: dropped.lines })
    expect(textOf([page]).length).toBe(stdout.bytes - dropped.bytes)
    expect(page.ended).toBe(true)
  })

  test("is refused when the transcript is gone", async () => {
    using staged = new StagedExecution()
    staged.write("gone\n")
    staged.end()
    staged.expire()
    using feed = await staged.open()

    const page = readChunks(feed, { limit_bytes: 100, encoding: "utf8" })

    expect(page).toMatchObject({ ok: false, failure: { reason: "EXPIRED" } })
  })
})
