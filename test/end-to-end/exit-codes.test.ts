import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Client } from "../../src/client/connect.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"

const stack = new AsyncDisposableStack()
let client: Client

beforeAll(async () => {
  const service = stack.use(await Service.start({ flags: { "max-executions": "16" } }))
  client = stack.use(await clientOf(service))
})
afterAll(() => stack.disposeAsync())

describe("the end of a child", () => {
  test("is told with its exit code, each of all 256", async () => {
    const all = Array.from({ length: 256 }, (_, code) => code)
    const some = [0, 1, 2, 9, 64, 124, 125, 126, 127, 128, 129, 130, 137, 143, 200, 254, 255]
    const codes = byScale({ short: some, full: all, long: all })

    const ends = await Promise.all(
      codes.map(async (code) => {
        const run = await Steered.start(client, shell(`printf %s ${code}; exit ${code}`))
        const { status, outcome, exit_code, signal, cause } = await run.ended()
        return { text: run.text, status, outcome, exit_code, signal, cause }
      }),
    )

    const expected: typeof ends = codes.map((code) => ({
      text: String(code),
      status: code === 0 ? "completed" : "failed",
      outcome: "exited",
      exit_code: code,
      signal: null,
      cause: null,
    }))
    expect(ends).toEqual(expected)
  }, 60_000)

  test("is told with the signal that ended it, and without an exit code", async () => {
    const signals = ["HUP", "INT", "KILL", "USR1", "SEGV", "PIPE", "TERM", "ABRT", "BUS", "FPE"]

    const ends = await Promise.all(
      signals.map(async (name) => {
        const run = await Steered.start(client, shell(`ulimit -c 0; kill -${name} $$`))
        const { status, outcome, exit_code, signal } = await run.ended()
        return { status, outcome, exit_code, signal }
      }),
    )

    const expected: typeof ends = signals.map((name) => ({
      status: "failed",
      outcome: "signaled",
      exit_code: null,
      signal: `SIG${name}`,
    }))
    expect(ends).toEqual(expected)
  })

  test("is told of a real-time signal by its number", async () => {
    const run = await Steered.start(client, { argv: ["bash", "-c", "kill -40 $$"] })

    expect(await run.ended()).toMatchObject({
      outcome: "signaled",
      exit_code: null,
      signal: "SIG40",
    })
  })

  test("cuts off nothing of what is still in the pipe, not even without any linger", async () => {
    await using service = await Service.start({ flags: { linger: "0s", grace: "0s" } })
    await using own = await clientOf(service)
    const encoding = "binary" as const
    const rounds = byScale({ short: 2, full: 5, long: 5 })
    const flood = { argv: ["head", "-c", "5000000", "/dev/zero"], encoding }

    for (let round = 0; round < rounds; round++) {
      const runs = await Promise.all(Array.from({ length: 8 }, () => Steered.start(own, flood)))
      const ends = await Promise.all(runs.map((run) => run.ended()))
      expect(ends.map(({ bytes }) => bytes.stdout)).toEqual(Array(8).fill(5_000_000))
    }
  }, 60_000)

  test("comes after its last byte, on both streams", async () => {
    const script = "seq 1 20000; seq 1 20000 >&2; printf out; printf err >&2; exit 9"

    const runs = await Promise.all(
      Array.from({ length: 8 }, () => Steered.start(client, shell(script))),
    )

    for (const run of runs) {
      const completed = await run.ended()
      expect(run.events.at(-1)).toEqual({ kind: "completed", completed })
      expect(completed.exit_code).toBe(9)
      const received = { stdout: 0, stderr: 0 }
      for (const event of run.events) {
        if (event.kind === "output") received[event.stream] += event.bytes.length
      }
      expect(received).toEqual({ stdout: 108_897, stderr: 108_897 })
      expect(completed.bytes).toEqual(received)
    }
  })
})
