import { describe, expect, test } from "bun:test"
import type { LogChunk } from "../../../src/cli/logs/log-chunk.ts"
import { lastLines } from "../../../src/cli/logs/log-chunk.ts"
import { LogPrinter } from "../../../src/cli/logs/log-printer.ts"
import { fakeContext } from "../fake-context.ts"

const time = "2026-11-16T10:00:00.000Z"
const later = "2026-11-16T11:00:00.000Z"

function chunk(stream: "stdout" | "stderr", text: string, at = time): LogChunk {
  return { kind: "output", stream, bytes: Buffer.from(text), time: at, next: `after ${text}` }
}

async function* each(chunks: LogChunk[]) {
  yield* chunks
}

async function last(count: number, ...texts: string[]): Promise<string> {
  const chunks = texts.map((text) => chunk("stderr", text))
  const found = await lastLines(each(chunks), "stderr", count, "start")
  return found.chunks.map(({ bytes }) => Buffer.from(bytes).toString()).join("")
}

describe("logs", () => {
  const everything = { stream: null, since: null, timestamps: false }

  test("go to the descriptor they were written to", async () => {
    const context = fakeContext()
    const printer = new LogPrinter(context, everything)

    await printer.print(chunk("stdout", "a"))
    await printer.print(chunk("stderr", "b"))

    expect(context.stdout.text()).toBe("a")
    expect(context.stderr.text()).toBe("b")
  })

  test("have the time before each line, not inside one", async () => {
    const context = fakeContext()
    const printer = new LogPrinter(context, { ...everything, timestamps: true })

    await printer.print(chunk("stdout", "a\nb"))
    await printer.print(chunk("stderr", "x\n"))
    await printer.print(chunk("stdout", "c\n\nd", later))

    expect(context.stdout.text()).toBe(`${time} a\n${time} bc\n${later} \n${later} d`)
    expect(context.stderr.text()).toBe(`${time} x\n`)
  })

  test("are of one stream, or from a time on, if that is asked", async () => {
    const context = fakeContext()
    const since = new Date("2026-11-16T10:30:00Z")
    const printer = new LogPrinter(context, { ...everything, stream: "stdout", since })

    await printer.print(chunk("stdout", "early"))
    await printer.print(chunk("stdout", "late", later))
    await printer.print(chunk("stderr", "other", later))

    expect(context.stdout.text()).toBe("late")
    expect(context.stderr.text()).toBe("")
  })
})

describe("the last lines of one stream", () => {
  test.each([
    [2, ["a\nb\nc\n"], "b\nc\n"],
    [2, ["a\n", "b\n", "c\n"], "b\nc\n"],
    [2, ["a\nb", "b\nc"], "bb\nc"],
    [1, ["a\nb\n", "unfinished"], "unfinished"],
    [1, ["abc", "def\n"], "abcdef\n"],
    [9, ["a\nb\n"], "a\nb\n"],
    [0, ["a\nb\n"], ""],
    [3, [], ""],
  ])("%d of %j", async (count, texts, expected) => {
    expect(await last(count, ...texts)).toBe(expected)
  })

  test("count no lines of the other, and end where both end", async () => {
    const chunks = [chunk("stdout", "1\n"), chunk("stderr", "a\n"), chunk("stdout", "2\n3\n")]

    const found = await lastLines(each(chunks), "stderr", 1, "start")

    expect(found.chunks).toEqual([chunk("stderr", "a\n")])
    expect(found.next).toBe("after 2\n3\n")
  })
})
