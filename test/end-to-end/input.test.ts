import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { readStat } from "../../src/service/os/proc.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { rejection } from "../support/following.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const stdin = "pipe" as const
const mebibyte = 1_048_576
const megabytes = byScale({ short: 8, full: 20, long: 20 })

describeAContainment("on a pipe", (containment) => {
  const shared = sharedService({ flags: { containment } })

  describe("input for a child", () => {
    test(`passes through it byte by byte: ${megabytes} MB by cat`, async () => {
      const service = shared()
      await using client = await clientOf(service)
      const data = new Uint8Array(megabytes * 1_000_000)
      for (let at = 0; at < data.length; at += 65_536) {
        crypto.getRandomValues(data.subarray(at, Math.min(at + 65_536, data.length)))
      }
      const hash = createHash("sha256").update(data).digest("hex")
      const run = await Steered.start(client, { argv: ["cat"], stdin, encoding: "binary" })

      await run.execution.write(data)
      await run.execution.end()
      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect(completed.hashes?.stdout).toBe(hash)
      expect(createHash("sha256").update(run.bytes).digest("hex")).toBe(hash)
      expect((await run.receipt()).stdin_bytes).toBe(data.length)
    }, 60_000)

    test("can be read again from /dev/stdin", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, {
        ...shell("cat /dev/stdin; cat < /dev/stdin"),
        stdin,
      })

      await run.execution.write("once\n")
      await run.execution.end()

      expect(await run.ended()).toMatchObject({ exit_code: 0 })
      expect(run.text).toBe("once\n")
    })

    test("ends where it is told to end, and takes nothing after", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, {
        ...shell("cat; echo over; exec sleep 1000"),
        stdin,
      })

      const { id: execution_id } = run
      const ended = await client.call("input", { execution_id, data: "last", end: true })
      expect(ended).toEqual({ accepted: 4, offset: 4 })
      await run.untilLine(/^lastover$/)

      const late = client.call("input", { execution_id, data: "more" })
      expect(await refusal(late)).toMatchObject({
        reason: "WRONG_STATE",
        details: { accepted: 0, offset: 4 },
      })
      expect(await client.call("input", { execution_id, end: true })).toEqual({
        accepted: 0,
        offset: 4,
      })
      await run.execution.cancel()
    })

    test("is written once, however often its offset is repeated", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["cat"], stdin })
      const { id: execution_id } = run
      const input = (data: string, offset: number) =>
        client.call("input", { execution_id, data, offset })

      expect(await input("abc", 0)).toEqual({ accepted: 3, offset: 3 })
      expect(await input("abc", 0)).toEqual({ accepted: 0, offset: 3 })
      expect(await input("abcdef", 0)).toEqual({ accepted: 3, offset: 6 })
      expect(await input("def", 3)).toEqual({ accepted: 0, offset: 6 })
      const hole = await refusal(input("xyz", 7))

      expect(hole).toMatchObject({ reason: "INVALID_PARAMS", details: { offset: 6 } })
      await client.call("input", { execution_id, data: "!", offset: 6, end: true })
      await run.ended()
      expect(run.text).toBe("abcdef!")
    })

    test("is refused where it makes no sense", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const closed = await Steered.start(client, shell("cat; echo done; exec sleep 1000"))
      await closed.untilLine(/^done$/)
      const open = await Steered.start(client, { argv: ["cat"], stdin })
      const input = (execution_id: string, more: object) =>
        refusal(client.call("input", { execution_id, data: "x", ...more }))

      expect(await input(closed.id, {})).toMatchObject({ reason: "WRONG_STATE" })
      expect(await input("c".repeat(26), {})).toMatchObject({ reason: "PROCESS_NOT_FOUND" })
      expect(await input(open.id, { data: "%", encoding: "base64" })).toMatchObject({
        reason: "INVALID_PARAMS",
      })
      expect(await input(open.id, { data: "x".repeat(mebibyte + 1) })).toMatchObject({
        reason: "INVALID_PARAMS",
      })
      expect(await input(open.id, { offset: -1 })).toMatchObject({ reason: "INVALID_PARAMS" })

      await open.execution.end()
      await open.ended()
      expect(await input(open.id, {})).toMatchObject({
        reason: "WRONG_STATE",
        details: { state: "ended" },
      })
      expect(open.text).toBe("")
      await closed.execution.cancel()
    })

    test("comes from any number of writers, each byte of each once and in its order", async () => {
      await using service = await Service.start({ flags: { containment } })
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["cat"], stdin })
      await using clients = new AsyncDisposableStack()
      const writers = [run.execution]
      for (const _ of [1, 2, 3, 4]) {
        const other = clients.use(await clientOf(service))
        writers.push(await other.attach(run.id))
      }
      const lines = (writer: number) => Array.from({ length: 50 }, (_, at) => `${writer} ${at}\n`)

      const killed = service.gatewayPid
      const writing = writers.map(async (writer, number) => {
        for (const [at, line] of lines(number).entries()) {
          if (number === 0 && at === 25) process.kill(killed, "SIGKILL")
          await writer.write(line)
        }
      })
      await Promise.all(writing)
      await run.execution.end()
      await run.ended()

      const received = run.text.split(/(?<=\n)/)
      expect(received).toHaveLength(250)
      for (const number of writers.keys()) {
        expect(received.filter((line) => line.startsWith(`${number} `))).toEqual(lines(number))
      }
    })
  })

  describe("a terminal that was silent while a thousand others wrote", () => {
    test("is heard all the same", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["cat"], stdin })
      await run.execution.write("first ")

      for (let count = 0; count <= 1000; count += 1) await client.input(run.id).write("x")
      await run.execution.write(" last")
      await run.execution.end()

      await run.ended()
      expect(run.text).toBe(`first ${"x".repeat(1001)} last`)
    })
  })

  describe("a child that does not read", () => {
    test("makes its writer wait, and nobody else", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = `echo ready; trap "exec cat | wc -c" USR1; while :; do sleep 0.01; done`
      const run = await Steered.start(client, { ...shell(script), stdin })
      await run.untilLine(/^ready$/)

      let isTaken = false
      const writing = run.execution.write(new Uint8Array(mebibyte)).finally(() => {
        isTaken = true
      })
      const taken = async () => (await run.status()).stdin_bytes
      await until("the pipe is full", async () => (await taken()) >= 65_536)
      const other = await Steered.start(client, { argv: ["cat"], stdin })
      await other.execution.write("quick")
      await other.execution.end()
      await other.ended()
      expect(other.text).toBe("quick")
      expect(isTaken).toBe(false)

      await run.execution.signal("USR1")
      await writing
      await run.execution.end()
      await run.untilLine(/^1048576$/)
      await run.execution.cancel().catch(() => undefined) // it may have ended by now
      await run.ended()
      await expectNothingLeft(service, run.id)
    })

    test("answers its waiting writer when it is canceled, with what it took", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["sleep", "1000"], stdin })
      const { id: execution_id } = run
      const data = Buffer.alloc(mebibyte).toString("base64")
      const waiting = refusal(client.call("input", { execution_id, data, encoding: "base64" }))
      await until("the pipe is full", async () => (await run.status()).stdin_bytes >= 65_536)

      await run.execution.cancel()
      const refused = await waiting

      expect(refused).toMatchObject({ reason: "WRONG_STATE" })
      const accepted = Number(refused.details?.["accepted"])
      expect(accepted).toBeGreaterThanOrEqual(65_536)
      expect(accepted).toBeLessThan(mebibyte)
      await run.ended()
      expect((await run.receipt()).stdin_bytes).toBe(accepted)
      await expectNothingLeft(service, run.id)
    })

    test("is given a few pieces to wait with, and no more", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["sleep", "1000"], stdin })
      const { id: execution_id } = run
      const data = "x".repeat(500_000)

      const answers = Array.from({ length: 8 }, () =>
        refusal(client.call("input", { execution_id, data })),
      )
      const first = await Promise.race(answers)

      expect(first).toMatchObject({ reason: "RATE_LIMITED", details: { retry_after: 1 } })
      await run.execution.cancel()
      const reasons: string[] = (await Promise.all(answers)).map(({ reason }) => reason)
      expect(reasons.filter((reason) => reason === "WRONG_STATE")).toHaveLength(4)
      expect(reasons.filter((reason) => reason === "RATE_LIMITED")).toHaveLength(4)
    })
  })

  describe("a child that closes its input", () => {
    test("refuses the rest with what it took, and the service lives", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "exec <&-; echo closed; exec sleep 1000"
      const run = await Steered.start(client, { ...shell(script), stdin })
      await run.untilLine(/^closed$/)
      const { id: execution_id } = run

      for (const _ of [1, 2]) {
        const refused = await refusal(client.call("input", { execution_id, data: "anybody?" }))
        expect(refused).toMatchObject({
          reason: "WRONG_STATE",
          details: { accepted: 0, offset: 0 },
        })
      }

      expect((await run.status()).state).toBe("running")
      await run.execution.cancel()
      await run.ended()
      const after = await Steered.start(client, shell("echo alive"))
      await after.ended()
      expect(after.text).toBe("alive\n")
      expect(readStat(service.pid)?.state).not.toBeUndefined()
    })

    test("in the middle of a piece, says how much of it was taken", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...shell("head -c 100000 >/dev/null"), stdin })

      const error = await rejection(run.execution.write(new Uint8Array(mebibyte)))

      expect(error).toMatchObject({ name: "CallError" })
      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
      const { stdin_bytes: taken } = await run.receipt()
      expect(taken).toBeGreaterThanOrEqual(100_000)
      expect(taken).toBeLessThan(mebibyte)
    })
  })
})
