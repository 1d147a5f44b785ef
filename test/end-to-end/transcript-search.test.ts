import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ParamsOf, ResultOf } from "../../src/protocol/methods.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

type Match = ResultOf<"transcript.search">["matches"][number]

let service: Service
let session: RawSession
let id: string

// Lines of two streams, one with a character that is cut by pieces, one without an end.
const script =
  "seq 1 50000; echo the Needle is here; echo needle twice needle; head -c 200000 /dev/zero | " +
  "tr '\\0' x; echo needle at the end of a long line; printf 'grün needle'"

beforeAll(async () => {
  service = await Service.start()
  session = await RawSession.open(await service.url())
  const started = await session.call("execute", { command: script, shell: true })
  id = started.execution_id
  await until("it has ended", async () => {
    return (await session.call("status", { execution_id: id })).state === "ended"
  })
})

afterAll(async () => {
  session[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
})

async function search(params: Omit<ParamsOf<"transcript.search">, "execution_id">) {
  const matches: Match[] = []
  let from = "start"
  while (true) {
    const page = await session.call("transcript.search", { execution_id: id, from, ...params })
    matches.push(...page.matches)
    if (page.complete) return matches
    from = page.next
  }
}

describe("a search in a transcript", () => {
  test("finds every line with the text once, with its number and place", async () => {
    const matches = await search({ text: "needle" })

    expect(matches.map(({ line }) => line)).toEqual([50_001, 50_002, 50_003])
    expect(matches[0]).toMatchObject({ text: "needle twice needle", at: 0, stream: "stdout" })
    expect(matches[1]?.text.slice(matches[1].at)).toBe("needle at the end of a long line")
    expect(matches[2]?.text).toBe("grün needle")
  })

  test("ignores cases where that is asked, and goes on page by page", async () => {
    const matches = await search({ text: "NEEDLE", ignore_case: true, limit: 1 })

    expect(matches.map(({ line }) => line)).toEqual([50_000, 50_001, 50_002, 50_003])
  })

  test("says when there is nothing", async () => {
    expect(await search({ text: "haystack" })).toEqual([])
    expect(await search({ text: "needle", stream: "stderr" })).toEqual([])
  })
})

describe("a page of a transcript", () => {
  test.each([0, 1, 777, 49_999])("begins after %d line ends", async (line) => {
    const asked = { execution_id: id, from: `line:${line}`, limit_bytes: 20 }
    const [chunk] = (await session.call("transcript.read", asked)).chunks

    expect(chunk?.line).toBe(line)
    expect(chunk?.data.split("\n")[0]).toBe(String(line + 1))
  })

  test("begins after so many bytes", async () => {
    const asked = { execution_id: id, from: "at:4", limit_bytes: 4 }
    const [chunk] = (await session.call("transcript.read", asked)).chunks

    expect(chunk).toMatchObject({ sequence: 4, line: 2, data: "3\n4\n" })
  })
})
