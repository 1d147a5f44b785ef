import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { verifyReceipt } from "../../src/service/storage/journal/receipt-signing.ts"
import {
  loadOrCreateSigningKey,
  publicKeyPem,
} from "../../src/service/storage/journal/signing-key.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"

const timeoutMs = 60_000
const segmentHeaderBytes = 128
const recordHeaderBytes = 28

let service: Service
let session: RawSession

beforeAll(async () => {
  service = await Service.start()
  session = await RawSession.open(await service.url())
})

afterAll(async () => {
  session[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
})

describe("the transcript of an execution", () => {
  const kinds: [string, ParamsOf<"execute">, string][] = [
    ["without output", { command: "true" }, "intact"],
    ["with a line", { command: "echo hi" }, "intact"],
    ["that failed, on both streams", { command: "echo a; echo b >&2; exit 3" }, "intact"],
    ["with bytes of every value", { command: "head -c 300000 /dev/urandom" }, "intact"],
    ["of a hundred thousand lines", { command: "seq 1 100000" }, "intact"],
    ["on a terminal", { command: "ls /", terminal: { cols: 80, rows: 24 } }, "intact"],
    ["that timed out", { command: "echo on; exec sleep 60", timeout: 0.3 }, "intact"],
    [
      "that outgrew its budget",
      { command: "seq 1 100000", budget: { bytes: 65_536 } },
      "intact from",
    ],
  ]
  test.each(kinds)(
    "%s verifies",
    async (_, params, chain) => {
      const { id } = await session.run({ ...params, encoding: "base64" })
      const verdict = await session.call("transcript.verify", { execution_id: id })
      expect(verdict.verified).toBe(true)
      expect(verdict.chain).toStartWith(chain)
      if (chain === "intact") expect(verdict.chain).toBe("intact")
    },
    timeoutMs,
  )

  test("verifies while it is still being written", async () => {
    const { execution_id } = await session.call("execute", { argv: ["cat"], stdin: "pipe" })
    await session.call("input", { execution_id, data: "so far\n" })
    await session.heard("process.output", execution_id)

    const verdict = await session.call("transcript.verify", { execution_id, contains: "far" })

    expect(verdict).toMatchObject({ verified: true, chain: "intact" })
    await session.call("control", { type: "CANCEL", execution_id })
  })

  test("says from where on it is intact when the rest was dropped", async () => {
    const budget = { bytes: 65_536, lines: 1000 }
    const { id, completed } = await session.run({ command: "seq 1 100000", budget })
    const { chain } = await session.call("transcript.verify", { execution_id: id })
    expect(chain).toBe(`intact from ${completed.dropped.bytes}`)
    expect(completed.dropped.bytes).toBeGreaterThan(0)
  })
})

describe("a claim", () => {
  test("about a text is confirmed with its place, or refuted", async () => {
    const { id } = await session.run({ command: "echo one; echo 'tests: 12 passed' >&2; echo end" })
    const claim = (contains: string) =>
      session.call("transcript.verify", { execution_id: id, contains })

    const confirmed = await claim("12 passed")
    expect(confirmed).toMatchObject({ verified: true, chain: "intact", where: { type: "stderr" } })
    expect(await claim("one\nend\n")).toMatchObject({ verified: true, where: { sequence: 0 } })
    expect(await claim("13 passed")).toMatchObject({ verified: false, chain: "intact" })
    expect(await claim("one\ntests")).toMatchObject({ verified: false })
  })

  test("about a hash is confirmed by its name, or refuted", async () => {
    const { id, completed } = await session.run({ command: "echo hashed" })
    const claim = (hash: string) => session.call("transcript.verify", { execution_id: id, hash })
    const expected = new Bun.CryptoHasher("sha256").update("hashed\n").digest("hex")

    expect(completed.hashes?.stdout).toBe(expected)
    expect(await claim(expected)).toMatchObject({ verified: true, hash: "stdout" })
    expect(await claim(completed.hashes?.chain ?? "")).toMatchObject({ hash: "chain" })
    expect(await claim("0".repeat(64))).toMatchObject({ verified: false })
  })
})

describe("a transcript that was tampered with", () => {
  test(
    "is found out, and where, whichever byte was changed",
    async () => {
      const { id: execution_id } = await session.run({ command: "seq 1 40000" })
      const path = segmentsOf(execution_id)[0] ?? ""
      const bytes = readFileSync(path)
      const places = [0, 9, 70, 130, 131, 140, 156, 157, 5000, 70_000, bytes.length - 1]
      const spread = Array.from({ length: 20 }, (_, index) =>
        Math.floor((bytes.length / 20) * index),
      )

      for (const place of [...places, ...spread]) {
        const changed = Buffer.from(bytes)
        changed.writeUInt8((bytes.at(place) ?? 0) ^ 0x10, place)
        writeFileSync(path, changed)
        const verdict = await session.call("transcript.verify", { execution_id })

        const at = Number(/^broken at (\d+)$/.exec(verdict.chain)?.[1])
        expect({ place, verified: verdict.verified }).toEqual({ place, verified: false })
        expect(at).toBeLessThanOrEqual(place)
        expect(at).toBeGreaterThanOrEqual(place - 70_000)
        expect(verdict.reason).not.toBe("")
      }
      writeFileSync(path, bytes)
      expect((await session.call("transcript.verify", { execution_id })).chain).toBe("intact")
    },
    timeoutMs,
  )

  test("is found out when it was cut, lengthened or taken from another execution", async () => {
    const { id: execution_id } = await session.run({ command: "seq 1 1000" })
    const { id: other } = await session.run({ command: "seq 1 1000" })
    const [path = ""] = segmentsOf(execution_id)
    const [strange = ""] = segmentsOf(other)
    const bytes = readFileSync(path)
    const verify = () => session.call("transcript.verify", { execution_id })

    truncateSync(path, bytes.length - 1)
    expect(await verify()).toMatchObject({ verified: false })
    writeFileSync(path, bytes)
    appendFileSync(path, bytes.subarray(segmentHeaderBytes))
    expect(await verify()).toMatchObject({ verified: false })
    writeFileSync(path, readFileSync(strange))
    expect(await verify()).toMatchObject({ verified: false })
    writeFileSync(path, bytes)
    expect(await verify()).toMatchObject({ verified: true })
  })

  test("is never passed on as if it were whole, where its structure is broken", async () => {
    const { id: execution_id } = await session.run({ command: "seq 1 40000" })
    const [path = ""] = segmentsOf(execution_id)
    const bytes = readFileSync(path)
    const truth = await session.call("transcript.read", { execution_id, limit_bytes: 8_000_000 })
    const text = truth.chunks.map(({ data }) => data).join("")
    const firstBytes = recordLength(bytes)
    const secondRecord = segmentHeaderBytes + recordHeaderBytes + firstBytes + 32
    for (const [place, intactBytes] of [
      [segmentHeaderBytes + 2, 0],
      [secondRecord + 2, firstBytes],
      [secondRecord + 6, firstBytes],
    ] as const) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8((bytes.at(place) ?? 0) ^ 0xff, place)
      writeFileSync(path, changed)
      using reader = await RawSession.open(await service.url())

      await reader.call("attach", { execution_id })
      const { error } = await reader.heard("process.error", execution_id)

      const chunks = reader.allHeard("process.output", execution_id)
      const got = chunks.map(({ data }) => data).join("")
      expect(error).toMatchObject({ code: -32603, data: { reason: "INTERNAL" } })
      expect(error.message).toContain("damaged")
      expect(got.slice(0, intactBytes)).toBe(text.slice(0, intactBytes))
      expect(reader.allHeard("process.completed", execution_id)).toEqual([])
      const raw = await fetchOutcome(await service.url(`/executions/${execution_id}/output`))
      expect(raw).toMatch(/^(500|aborted)$/)
    }
    writeFileSync(path, bytes)
  })
})

describe("a receipt", () => {
  test("is signed by the service's key, and no field of it can be changed", async () => {
    const { id } = await session.run({ command: "echo signed", labels: { a: "b" } })
    const envelope = await session.call("receipt", { execution_id: id })
    const key = loadOrCreateSigningKey(service.stateDir)
    if (!key.ok) throw new Error(key.failure.message)
    const publicKey = publicKeyPem(key.value)
    const verdict = verifyReceipt(envelope, null, publicKey)
    expect(verdict).toMatchObject({ kind: "valid", trust: "self-attested" })

    const receipt = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(Buffer.from(envelope.payload, "base64").toString()))
    expect(receipt).toMatchObject({ execution_id: id, outcome: { kind: "exited", exitCode: 0 } })
    for (const field of Object.keys(receipt)) {
      const forged = Buffer.from(JSON.stringify({ ...receipt, [field]: "forged" }))
      const changed = { ...envelope, payload: forged.toString("base64") }
      const outcome = verifyReceipt(changed, null, publicKey)
      expect({ field, kind: outcome.kind }).toEqual({ field, kind: "invalid" })
    }
  })
})

function segmentsOf(executionId: string): string[] {
  const folder = join(service.stateDir, "transcripts", executionId)
  return readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name))
}

/** The payload of the first record. */
function recordLength(segment: Buffer): number {
  return segment.readUInt32BE(segmentHeaderBytes + 4)
}

async function fetchOutcome(url: string): Promise<string> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return String(response.status)
  } catch {
    return "aborted"
  }
}
