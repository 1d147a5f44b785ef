import { describe, expect, test } from "bun:test"
import { Bystanders } from "../support/bystanders.ts"
import { memoryOf } from "../support/memory-of.ts"
import { RawSession } from "../support/raw-session.ts"
import { clientFrame, TcpTalk, textOpcode } from "../support/tcp-talk.ts"

const timeoutMs = 60_000
const mebibyte = 1024 * 1024

describe("a message of 100 MB", () => {
  test(
    "closes its connection as too big, and nobody else notices",
    async () => {
      await using bystanders = await Bystanders.start()
      const { service, session } = bystanders
      const gatewayPid = service.gatewayPid
      const request = { jsonrpc: "2.0", id: 1, method: "execute" }
      const params = { argv: ["echo", "x".repeat(100 * mebibyte)] }

      await bystanders.untouchedBy(async () => {
        using big = await RawSession.open(await service.url())
        big.send(JSON.stringify({ ...request, params }))
        expect(await big.closed).toMatchObject({ code: 1009 })
      })

      expect(service.gatewayPid).toBe(gatewayPid)
      expect(memoryOf(gatewayPid).peakMb).toBeLessThan(150)
      expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
    },
    timeoutMs,
  )
})

describe("input of more than 1 MiB at once", () => {
  test(
    "is refused, and the child gets nothing of it",
    async () => {
      await using bystanders = await Bystanders.start()
      const { session, running: execution_id } = bystanders
      const tooMuch = "x".repeat(mebibyte + 1)

      for (const params of [
        { execution_id, data: tooMuch },
        { execution_id, data: "é".repeat(mebibyte / 2 + 1) },
        { execution_id, data: Buffer.from(tooMuch).toString("base64"), encoding: "base64" },
      ]) {
        const error = await bystanders.untouchedBy(() => session.refused("input", params))
        expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
        expect(error.message).toContain("1 MiB")
      }

      const exactly = await session.call("input", { execution_id, data: "y".repeat(mebibyte) })
      expect(exactly).toEqual({ accepted: mebibyte, offset: mebibyte })
    },
    timeoutMs,
  )
})

describe("parameters that are wrong in 200,000 places", () => {
  test(
    "are answered with a few of them, for no more memory than the message took",
    async () => {
      await using bystanders = await Bystanders.start()
      const { service, session } = bystanders
      const wrong = Array.from({ length: 200_000 }, (_, number) => [`a=${number}`, 1])
      const env = Object.fromEntries(wrong)

      const error = await bystanders.untouchedBy(() =>
        session.refused("execute", { argv: ["true"], env }),
      )

      expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
      expect(JSON.stringify(error).length).toBeLessThan(10_000)
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(150)
    },
    timeoutMs,
  )
})

describe("eight megabytes of brackets", () => {
  test(
    "are refused without becoming what they say, on the socket and over HTTP",
    async () => {
      await using bystanders = await Bystanders.start()
      const { service, session } = bystanders
      const brackets = "[".repeat(4_000_000) + "]".repeat(4_000_000)
      const headers = { "Content-Type": "application/json" }
      const url = await service.url("/executions")

      await bystanders.untouchedBy(async () => {
        for (let count = 0; count < 3; count += 1) {
          session.send(brackets)
          expect(await session.refusalOf(null)).toMatchObject({ code: -32700 })
          const response = await fetch(url, { method: "POST", headers, body: brackets })
          expect(response.status).toBe(400)
        }
      })

      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(200)
    },
    timeoutMs,
  )
})

describe("ten thousand requests at once", () => {
  test(
    "are each answered, with a result or with RATE_LIMITED",
    async () => {
      await using bystanders = await Bystanders.start()
      const { service, session, running: execution_id } = bystanders
      const tally = new Map<string, number>()

      await bystanders.untouchedBy(async () => {
        using eager = await RawSession.open(await service.url())
        const ids = Array.from({ length: 10_000 }, () => eager.request("status", { execution_id }))
        for (const id of ids) {
          const answer = await eager.response(id)
          const kind = "error" in answer ? answer.error.data.reason : "answered"
          if ("error" in answer) expect(answer.error.data["retry_after"]).toBeNumber()
          tally.set(kind, (tally.get(kind) ?? 0) + 1)
        }
      })

      const { answered = 0, RATE_LIMITED = 0, ...other } = Object.fromEntries(tally)
      expect(other).toEqual({})
      expect(answered + RATE_LIMITED).toBe(10_000)
      expect(answered).toBeGreaterThan(0)
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(150)
      expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
    },
    timeoutMs,
  )
})

describe("a client that asks for much and takes no answer", () => {
  test(
    "costs the service one answer, and no other client its turn",
    async () => {
      await using bystanders = await Bystanders.start()
      const { service, session } = bystanders
      const url = await service.url()
      const { execution_id } = await session.call("execute", {
        argv: ["seq", "1", "3000000"],
        encoding: "binary",
      })
      await session.heard("process.completed", execution_id)
      using deaf = await TcpTalk.connect(url)
      await deaf.upgrade(url)
      deaf.goDeaf()

      const params = { execution_id, limit_bytes: 8 * mebibyte }
      const request = { jsonrpc: "2.0", id: 1, method: "transcript.read", params }
      const frame = clientFrame(textOpcode, JSON.stringify(request))
      for (let count = 0; count < 200; count += 1) deaf.write(frame)
      const slowest = await slowestOf(50, () => session.call("status", { execution_id }))

      expect(slowest).toBeLessThan(10_000)
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(200)
    },
    timeoutMs,
  )
})

/** In milliseconds. */
async function slowestOf(times: number, ask: () => Promise<unknown>): Promise<number> {
  let slowest = 0
  for (let count = 0; count < times; count += 1) {
    const startedMs = performance.now()
    await ask()
    slowest = Math.max(slowest, performance.now() - startedMs)
  }
  return slowest
}
