import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { generateKeyPairSync, sign } from "node:crypto"
import {
  Receipt,
  receiptOf,
  SignedReceipt,
  signedBytes,
} from "../../../../src/execution/receipt.ts"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { keyIdOf } from "../../../../src/lib/public-key.ts"
import {
  createReceiptSigner,
  verifyReceipt,
} from "../../../../src/service/storage/journal/receipt-signing.ts"
import {
  publicKeyPem,
  type SigningKey,
} from "../../../../src/service/storage/journal/signing-key.ts"
import { after, queued } from "./sample-executions.ts"

const key = newKey()
const otherKey = newKey()
const record = endedRecord()
const envelope = createReceiptSigner(key, 1000).sign(record)

describe("a receipt as it was signed", () => {
  test("is valid, and trusted by who holds the public key", () => {
    expect(verifyReceipt(envelope, publicKeyPem(key), null)).toEqual({
      kind: "valid",
      trust: "trusted",
      receipt: attested(record),
    })
  })

  test("is only self-attested with the service's own key", () => {
    expect(verifyReceipt(envelope, null, publicKeyPem(key))).toMatchObject({
      kind: "valid",
      trust: "self-attested",
    })
  })

  test("is the envelope its schema says, and survives JSON", () => {
    const received: unknown = JSON.parse(JSON.stringify(envelope))

    expect(SignedReceipt.parse(received)).toEqual(envelope)
    expect(verifyReceipt(received, publicKeyPem(key), null).kind).toBe("valid")
  })

  test("says whom the child ran as", () => {
    expect(Receipt.parse(payloadOf(envelope)).ran_as).toEqual({
      uid: 1000,
      same_user_as_service: true,
    })
  })

  test("is never made of an execution that has not ended", () => {
    expect(() => createReceiptSigner(key, 1000).sign(queued())).toThrow("has not ended")
  })
})

describe("a receipt with one value changed", () => {
  const leaves = leavesOf(payloadOf(envelope))

  test("has many values that could be", () => {
    expect(leaves.length).toBeGreaterThan(50)
  })

  test.each(leaves)("%s", (path) => {
    const changed = changedAt(payloadOf(envelope), path.split("/"))
    const payload = Buffer.from(JSON.stringify(changed)).toString("base64")
    assert(payload !== envelope.payload)

    expectInvalid({ ...envelope, payload }, "does not match")
  })
})

describe("an envelope with one byte changed", () => {
  test("anywhere in the payload is invalid", () => {
    const bytes = Buffer.from(envelope.payload, "base64")
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      expectInvalid({ ...envelope, payload: changed.toString("base64") }, "does not match")
    }
  })

  test("anywhere in the signature is invalid", () => {
    const bytes = Buffer.from(signatureOf(envelope).sig, "base64")
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      expectInvalid(withSignature({ sig: changed.toString("base64") }), "does not match")
    }
  })

  test("in the name of the key is invalid", () => {
    expectInvalid(withSignature({ keyid: otherKey.id }), "it names the key")
  })

  test("is invalid even where base64 would decode to the same", () => {
    const { sig } = signatureOf(envelope)
    const sameBytes = `${sig.slice(0, -3)}${nextLetter(sig.at(-3))}==`
    expect(Buffer.from(sameBytes, "base64")).toEqual(Buffer.from(sig, "base64"))

    expectInvalid(withSignature({ sig: sameBytes }), "base64")
    expectInvalid(withSignature({ sig: sig.replace(/=+$/, "") }), "base64")
    expectInvalid({ ...envelope, payload: `${envelope.payload}\n` }, "base64")
  })
})

describe("an envelope of another shape", () => {
  test.each<[string, unknown]>([
    ["another payload type", { ...envelope, payloadType: "application/json" }],
    ["no signature", { ...envelope, signatures: [] }],
    ["a second signature", { ...envelope, signatures: [signatureOf(envelope), {}] }],
    ["something added", { ...envelope, note: "paid" }],
    ["something added to the signature", withSignature({ note: "paid" })],
    ["nothing in it", {}],
    ["no envelope", null],
    ["text", JSON.stringify(envelope)],
  ])("%s is invalid", (_, changed) => {
    expectInvalid(changed, "not a signed receipt")
  })

  test("a short signature is invalid", () => {
    expectInvalid(withSignature({ sig: "AAAA" }), "does not match")
  })
})

describe("a key that was not the signer's", () => {
  test("makes the receipt invalid, even if the service's own key would fit", () => {
    const verified = verifyReceipt(envelope, publicKeyPem(otherKey), publicKeyPem(key))

    expect(verified).toMatchObject({ kind: "invalid" })
  })

  test("does not pass by taking the trusted key's name", () => {
    const forged = createReceiptSigner({ ...otherKey, id: key.id }, 1000).sign(record)

    expectInvalid(forged, "does not match")
  })

  test.each(["", "not a key", ecPublicKey()])("is refused when it is no Ed25519 key", (pem) => {
    expect(verifyReceipt(envelope, pem, null)).toMatchObject({
      kind: "invalid",
      why: expect.stringContaining("not an Ed25519 key"),
    })
  })

  test("nothing is valid without a key", () => {
    expect(verifyReceipt(envelope, null, null)).toMatchObject({ kind: "invalid" })
  })
})

describe("a payload that is signed but no receipt", () => {
  test.each(["not JSON", "{}", JSON.stringify({ ...attested(record), version: 2 })])(
    "%p is invalid",
    (text) => {
      const payload = Buffer.from(text)
      const signature = sign(null, signedBytes(envelope.payloadType, payload), key.privateKey)
      const signed = withSignature({ sig: signature.toString("base64") })

      expectInvalid({ ...signed, payload: payload.toString("base64") }, "not a receipt")
    },
  )

  test("a signature over another payload type does not count", () => {
    const payload = Buffer.from(envelope.payload, "base64")
    const signature = sign(null, signedBytes("application/json", payload), key.privateKey)

    expectInvalid(withSignature({ sig: signature.toString("base64") }), "does not match")
  })
})

function expectInvalid(changed: unknown, why: string): void {
  expect(verifyReceipt(changed, publicKeyPem(key), null)).toMatchObject({
    kind: "invalid",
    why: expect.stringContaining(why),
  })
  expect(verifyReceipt(changed, null, publicKeyPem(key)).kind).toBe("invalid")
}

function newKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  return { id: keyIdOf(publicKey), privateKey, publicKey }
}

function ecPublicKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return publicKey.export({ type: "spki", format: "pem" })
}

/** Nothing in it is empty or null where it could be something, so that all of it can be changed. */
function endedRecord(): ExecutionRecord {
  const base = queued()
  const stop = { kind: "stop-requested", cause: "client" } as const
  const exit = { kind: "signaled", signal: "SIGTERM" } as const
  const stopping = after({ ...base, state: { kind: "paused", pid: 7 } }, stop)
  const draining = after(stopping, { kind: "leader-exited", exit })
  const place = { segment: 1, offset: 2, sequence: 3, lines: 4 }
  return {
    ...after(draining, { kind: "emptied" }),
    spec: {
      ...base.spec,
      terminal: { cols: 80, rows: 24 },
      idleTimeoutMs: 5_000,
      budget: { bytes: 4_096, lines: 100, policy: "block" },
      limits: { memoryBytes: 1, cpus: 0.5, pids: 3 },
      labels: { project: "é" },
    },
    startedAt: base.createdAt,
    transcript: { ...base.transcript, start: place, end: { ...place, sequence: 9 } },
    hashes: { chain: "aa", stdout: "bb", stderr: "cc" },
    use: { cpuUserMs: 1, cpuSystemMs: 2, memoryPeakBytes: 3 },
    stopped: [{ pid: 7, signal: "SIGTERM", ms: 1.5 }],
    killedAfterExit: [{ pid: 8, signal: "SIGKILL", ms: 2 }],
    survivors: [{ pid: 9, command: "sleep" }],
  }
}

function attested(ended: ExecutionRecord): Receipt {
  const receipt = receiptOf(ended, 1000)
  assert(receipt !== null)
  return receipt
}

function payloadOf({ payload }: SignedReceipt): unknown {
  return JSON.parse(Buffer.from(payload, "base64").toString("utf8"))
}

function signatureOf({ signatures: [first] }: SignedReceipt): { keyid: string; sig: string } {
  assert(first !== undefined)
  return first
}

function withSignature(change: Record<string, string>) {
  return { ...envelope, signatures: [{ ...signatureOf(envelope), ...change }] }
}

/** Every value that is not an object or array, as a path. */
function leavesOf(value: unknown, path: string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [path.join("/")]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
}

function changedAt(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return otherValue(value)
  if (Array.isArray(value)) {
    return value.map((item: unknown, at) => (String(at) === name ? changedAt(item, rest) : item))
  }
  assert(typeof value === "object" && value !== null)
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([at, item]) => [at, at === name ? changedAt(item, rest) : item]),
  )
}

function otherValue(value: unknown): unknown {
  if (typeof value === "number") return value + 1
  if (typeof value === "boolean") return !value
  return `${String(value)}x`
}

function nextLetter(letter: string | undefined): string {
  assert(letter !== undefined)
  return String.fromCharCode(letter.charCodeAt(0) + 1)
}
