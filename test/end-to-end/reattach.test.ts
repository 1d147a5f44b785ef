import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Encoding } from "../../src/protocol/execute.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import type { ReceivedOutput } from "../support/received-output.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

const exactEncodings: Encoding[] = ["base64", "binary"]
const encodings: Encoding[] = ["utf8", ...exactEncodings]

/** How many lines make half of the output that ten clients read. */
const half = byScale({ short: 500_000, full: 1_500_000, long: 1_500_000 })

let service: Service
let url: string

beforeAll(async () => {
  service = await Service.start()
  url = await service.url()
})

afterAll(() => service[Symbol.asyncDispose]())

describe("a client that breaks off again and again, and changes its encoding each time", () => {
  test("has every byte once of an execution that goes on meanwhile", async () => {
    using writer = await StreamClient.connect(url)
    const argv = fixture("mixed-text.ts", 7, 1_500_000, 20_000)
    const { id, output: whole } = await writer.execute({ argv, stdin: "pipe", encoding: "base64" })

    // Each attachment wants fewer bytes than each portion has, so that none waits for the next.
    const goOn = () => writer.call("input", { execution_id: id, data: "." }).catch(() => undefined)
    const { output, attachments } = await readInCuts(id, 11, 18_000, goOn)

    const completed = await whole.completed
    expect(attachments).toBeGreaterThan(50)
    expect(output.faults).toEqual([])
    expect(output.lossy).toBe(0)
    expect(output.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
    expect(output.hash("stderr")).toBe(completed.hashes?.stderr ?? "")
    expect(output.hash("stdout")).toBe(whole.hash("stdout"))
  }, 60_000)

  test.each(fewIfShort(1, [1, 2, 3]))(
    "has every byte once of one that has ended, with seed %d",
    async (seed) => {
      using writer = await StreamClient.connect(url)
      const argv = fixture("mixed-text.ts", seed, 2_500_000)
      const { id, output: whole } = await writer.execute({ argv, encoding: "binary" })
      await whole.completed

      const { output, attachments } = await readInCuts(id, seed, 30_000)

      const truth = await runIndependently(argv)
      expect(attachments).toBeGreaterThan(25)
      expect(output.faults).toEqual([])
      expect(output.hash("stdout")).toBe(truth.stdout.hash)
      expect(output.hash("stderr")).toBe(truth.stderr.hash)
    },
    60_000,
  )

  test("has every byte once although it broke off inside characters of both streams", async () => {
    using writer = await StreamClient.connect(url)
    const command = [
      "printf 'a\\360\\237'; printf 'b\\342' >&2",
      "read go",
      "printf '\\230\\200c'; printf '\\202\\254d' >&2",
    ].join("\n")
    const { id } = await writer.execute({ command, stdin: "pipe", encoding: "base64" })
    const outputs = new Map<string, ReceivedOutput>()
    const first = await StreamClient.connect(url, outputs)
    const output = await first.attach({ execution_id: id, encoding: "utf8" })
    await until("all that there is of it", async () => {
      const { bytes } = await writer.call("status", { execution_id: id })
      return bytes.stdout + bytes.stderr === 5 && output.bytes === 2
    })
    first.cut()

    using second = await StreamClient.connect(url, outputs)
    await second.attach({ execution_id: id, encoding: "base64" })
    await until("what was held back", () => output.bytes === 5)
    await writer.call("input", { execution_id: id, data: "\n" })
    await output.completed

    expect(output.faults).toEqual([])
    expect(output.tail("stdout")).toBe("a😀c")
    expect(output.tail("stderr")).toBe("b€d")
  })
})

describe("ten clients of one execution", () => {
  test("all get the same bytes, however late, slow or absent they are", async () => {
    using writer = await StreamClient.connect(url)
    const argv = ["/bin/sh", "-c", `seq 1 ${half}; read go; seq 1 ${half}; exit 3`]
    const { id, output: fast } = await writer.execute({ argv, stdin: "pipe", encoding: "binary" })
    using deaf = await StreamClient.connect(url)
    await deaf.attach({ execution_id: id })
    deaf.stall()
    const stalling = await Promise.all(
      encodings.map(async (encoding, index) => {
        const client = await StreamClient.connect(url)
        client.output(id).onChunk = () => {
          if (client.output(id).bytes > index * 1_000_000) client.stall()
        }
        await client.attach({ execution_id: id, encoding })
        return client
      }),
    )
    using cleanup = new DisposableStack()
    for (const client of stalling) cleanup.use(client)
    await until("the first half", () => fast.stdout.lines === half)
    const late = encodings.map(async (encoding) => follow(id, encoding))
    const absent = readInCuts(id, 5, half * 6)
    await writer.call("input", { execution_id: id, data: "\n" })
    const completed = await fast.completed

    for (const client of stalling) {
      client.output(id).onChunk = () => undefined
      client.goOn()
    }
    const cursors = [await follow(id, "utf8"), await follow(id, "binary"), (await absent).output]
    const all = [...cursors, ...(await Promise.all(late)), ...stalling.map((one) => one.output(id))]
    const ends = await Promise.all(all.map((output) => output.completed))

    expect(completed.exit_code).toBe(3)
    expect(all.map((output) => output.hash("stdout"))).toEqual(
      all.map(() => completed.hashes?.stdout ?? ""),
    )
    expect(fast.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
    expect(all.flatMap((output) => output.faults)).toEqual([])
    expect(new Set(ends.map(({ exit_code }) => exit_code))).toEqual(new Set([3]))
  }, 60_000)
})

async function follow(id: string, encoding: Encoding): Promise<ReceivedOutput> {
  using client = await StreamClient.connect(url)
  const output = await client.attach({ execution_id: id, encoding })
  await output.completed
  return output
}

/** Attaches, breaks off after a random number of bytes, attaches where it was, and so on. */
async function readInCuts(
  id: string,
  seed: number,
  mostBytes: number,
  beforeEach: () => Promise<unknown> = () => Promise.resolve(),
): Promise<{ output: ReceivedOutput; attachments: number }> {
  const random = seededRandom(seed)
  const outputs = new Map<string, ReceivedOutput>()
  for (let attachments = 1; ; attachments += 1) {
    await beforeEach()
    using client = await StreamClient.connect(url, outputs)
    const output = client.output(id)
    const cutAt = output.bytes + random(mostBytes)
    output.onChunk = () => {
      if (output.bytes >= cutAt) client.cut()
    }
    // Half a character that was taken as bytes leaves another half that is no text.
    const possible = output.isBetweenCharacters ? encodings : exactEncodings
    const encoding = possible[random(possible.length)] ?? "binary"
    await client.attach({ execution_id: id, encoding })
    const cut = client.closed.then(() => false)
    const isComplete = await Promise.race([output.completed.then(() => true), cut])
    if (isComplete) return { output, attachments }
  }
}
