import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Encoding } from "../../src/protocol/execute.ts"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

const encodings: Encoding[] = ["utf8", "base64", "binary"]
const exactEncodings: Encoding[] = ["base64", "binary"]
const longMs = 60_000

let service: Service
let url: string

beforeAll(async () => {
  service = await Service.start()
  url = await service.url()
})

afterAll(() => service[Symbol.asyncDispose]())

describe("output arrives byte by byte as it was written", () => {
  const shell = (script: string) => ["/bin/sh", "-c", script]

  const lines = byScale({ short: 300_000, full: 5_000_000, long: 5_000_000 })
  test.each(encodings)(
    `${lines} lines, in %s`,
    async (encoding) => {
      const argv = ["seq", "1", `${lines}`]

      const { output, completed } = await runToEnd({ argv, encoding })

      expect(output.faults).toEqual([])
      expect(output.hash("stdout")).toBe((await runIndependently(argv)).stdout.hash)
      expect(completed.hashes?.stdout).toBe(output.hash("stdout"))
      expect(completed.lines).toEqual({ stdout: lines, stderr: 0 })
      expect(completed).toMatchObject({ status: "completed", exit_code: 0, outcome: "exited" })
    },
    longMs,
  )

  const lineBytes = byScale({ short: 10_000_000, full: 50_000_000, long: 50_000_000 })
  test.each(encodings)(
    `a single line of ${lineBytes / 1e6} MB, in %s`,
    async (encoding) => {
      const argv = shell(`head -c ${lineBytes} /dev/zero | tr '\\0' x; echo`)

      const { output, completed } = await runToEnd({ argv, encoding })

      expect(output.faults).toEqual([])
      expect(output.hash("stdout")).toBe((await runIndependently(argv)).stdout.hash)
      expect(completed.hashes?.stdout).toBe(output.hash("stdout"))
      expect(completed.bytes).toEqual({ stdout: lineBytes + 1, stderr: 0 })
      expect(completed.lines).toEqual({ stdout: 1, stderr: 0 })
    },
    longMs,
  )

  test.each(encodings)(
    "3 MB of text that writes cut inside characters, in %s",
    async (encoding) => {
      const argv = fixture("mixed-text.ts", 42, 3_000_000)

      const { output, completed } = await runToEnd({ argv, encoding })

      const truth = await runIndependently(argv)
      expect(output.faults).toEqual([])
      expect(output.lossy).toBe(0)
      expect(output.hash("stdout")).toBe(truth.stdout.hash)
      expect(output.hash("stderr")).toBe(truth.stderr.hash)
      expect(completed.hashes).toMatchObject({
        stdout: truth.stdout.hash,
        stderr: truth.stderr.hash,
      })
      expect(completed.bytes).toEqual({ stdout: truth.stdout.bytes, stderr: truth.stderr.bytes })
    },
    longMs,
  )

  const noiseBytes = byScale({ short: 10_000_000, full: 200_000_000, long: 200_000_000 })
  test.each(exactEncodings)(
    `${noiseBytes / 1e6} MB of noise, in %s`,
    async (encoding) => {
      const argv = fixture("noise.ts", noiseBytes)

      const { output, completed } = await runToEnd({ argv, encoding })

      expect(output.faults).toEqual([])
      expect(output.stdout.bytes).toBe(noiseBytes)
      expect(output.hash("stdout")).toBe((await runIndependently(argv)).stdout.hash)
      expect(completed.hashes?.stdout).toBe(output.hash("stdout"))
    },
    longMs,
  )
})

describe("ten executions of one session", () => {
  test.each(encodings)("do not mix their output, in %s", async (encoding) => {
    using client = await StreamClient.connect(url)
    const last = byScale({ short: "100000", full: "500000", long: "500000" })
    const commands = Array.from({ length: 10 }, (_, index) => ["seq", `${index}`, "3", last])

    const runs = await Promise.all(commands.map((argv) => client.execute({ argv, encoding })))
    const ends = await Promise.all(runs.map(({ output }) => output.completed))

    const truths = await Promise.all(commands.map(runIndependently))
    const hashes = truths.map(({ stdout }) => stdout.hash)
    expect(runs.map(({ output }) => output.hash("stdout"))).toEqual(hashes)
    expect(ends.map((completed) => completed.hashes?.stdout ?? "")).toEqual(hashes)
    expect(runs.flatMap(({ output }) => output.faults)).toEqual([])
  })
})

describe("noise read as text", () => {
  test("shows U+FFFD for what is no character, and counts it", async () => {
    const bytes = byScale({ short: 4_000_000, full: 40_000_000, long: 40_000_000 })
    const argv = fixture("noise.ts", bytes)

    const { output, completed } = await runToEnd({ argv, encoding: "utf8" })

    const truth = await decodeIndependently(argv)
    expect(output.faults).toEqual([])
    expect(output.hash("stdout")).toBe(truth.hash)
    expect(output.lossy).toBe(truth.invalid)
    expect(completed.bytes.stdout).toBe(bytes)
  }, 60_000)

  test("ends with what will never become a character, in both streams", async () => {
    const script = "printf 'a\\360\\237'; printf 'b\\342\\202' > /dev/stderr"

    const { output, completed } = await runToEnd({ command: script, encoding: "utf8" })

    expect(output.faults).toEqual([])
    expect(output.tail("stdout")).toBe("a\uFFFD")
    expect(output.tail("stderr")).toBe("b\uFFFD")
    expect(output.lossy).toBe(2)
    expect(completed.bytes).toEqual({ stdout: 3, stderr: 3 })
  })

  test("counts no U+FFFD that the program itself wrote", async () => {
    const { output } = await runToEnd({ command: "printf '\\357\\277\\275 \\377'" })

    expect(output.tail("stdout")).toBe("\uFFFD \uFFFD")
    expect(output.lossy).toBe(1)
  })
})

describe("a chunk of output", () => {
  test("comes after the answer and process.started, and before process.completed", async () => {
    using session = await RawSession.open(url)

    const { id } = await session.run({ command: "echo one; echo two >&2" })

    const names = session.said.map(({ method }) => method)
    expect(names.slice(0, 2)).toEqual(["connected", "process.started"])
    expect(names.at(-1)).toBe("process.completed")
    const output = session.allHeard("process.output", id).map(({ data }) => data)
    expect(output.toSorted()).toEqual(["one\n", "two\n"])
  })

  test("holds whole lines, as many as fit into 64 KiB", async () => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv: ["seq", "1", "100000"] })
    await output.completed
    using reader = await StreamClient.connect(url)
    const sizes: number[] = []
    const ends = new Set<number | undefined>()
    reader.output(id).onChunk = ({ bytes }) => {
      sizes.push(bytes.length)
      ends.add(bytes.at(-1))
    }

    await (await reader.attach({ execution_id: id })).completed

    expect([...ends]).toEqual(["\n".charCodeAt(0)])
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(32_000)
  })

  test("with a prompt arrives although its line has no end", async () => {
    using client = await StreamClient.connect(url)
    const command = "printf 'name? '; read name; echo \"hello $name\""

    const { id, output } = await client.execute({ command, stdin: "pipe" })
    await until("the prompt", () => output.tail("stdout") === "name? ")
    await client.call("input", { execution_id: id, data: "world\n" })
    await output.completed

    expect(output.tail("stdout")).toBe("name? hello world\n")
    expect(output.faults).toEqual([])
  })

  test("waits in text for the rest of a character, and in bytes for nothing", async () => {
    using writer = await StreamClient.connect(url)
    using reader = await StreamClient.connect(url)
    const argv = fixture("byte-by-byte.ts", Buffer.from("\n😀é\n").toString("hex"))
    const { id, output: text } = await writer.execute({ argv, stdin: "pipe" })
    const bytes = await reader.attach({ execution_id: id, encoding: "base64" })
    const seen: string[] = []

    for (let count = 1; count <= 8; count += 1) {
      await writer.call("input", { execution_id: id, data: "." })
      await until(`byte ${count}`, () => bytes.stdout.bytes === count)
      // Both clients hear of a byte in the same turn; the answer to a later request comes after.
      await writer.call("status", { execution_id: id })
      seen.push(text.tail("stdout"))
    }
    await Promise.all([text.completed, bytes.completed])

    const smile = "\n😀"
    expect(seen).toEqual(["\n", "\n", "\n", "\n", smile, smile, `${smile}é`, `${smile}é\n`])
    expect([...text.faults, ...bytes.faults]).toEqual([])
    expect(bytes.chunks).toBe(8)
  })
})

describe("a script that opens its own output by name", () => {
  test("writes to /dev/stderr and through tee to /dev/stdout", async () => {
    const command = "echo x > /dev/stderr; echo y | tee /dev/stdout; echo z > /proc/self/fd/1"

    const { output, completed } = await runToEnd({ command })

    expect(output.tail("stdout")).toBe("y\ny\nz\n")
    expect(output.tail("stderr")).toBe("x\n")
    expect(completed.exit_code).toBe(0)
  })
})

async function runToEnd(params: ParamsOf<"execute">) {
  using client = await StreamClient.connect(url)
  const { output } = await client.execute(params)
  const completed = await output.completed
  return { output, completed }
}

/** What a decoder that follows the standard makes of a program's output. */
async function decodeIndependently(argv: string[]) {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "ignore" })
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const bytes = await new Response(child.stdout).bytes()
  const text = decoder.decode(bytes)
  const written = Buffer.from(bytes).toString("latin1").split("\xef\xbf\xbd").length - 1
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex")
  return { hash, invalid: text.split("\uFFFD").length - 1 - written }
}
