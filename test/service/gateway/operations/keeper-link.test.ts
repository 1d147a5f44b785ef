import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type GatewayMessage, keeperMethods } from "../../../../src/protocol/ipc.ts"
import {
  type Channel,
  openKeeperLink,
} from "../../../../src/service/gateway/operations/keeper-link.ts"
import { sampleId } from "../../../support/sample-record.ts"
import { sampleSettings } from "../../../support/sample-settings.ts"

test("news is taken even where it breaks a reader: all other news waits for that", async () => {
  const sent: GatewayMessage[] = []
  let receive = (_message: unknown): void => undefined
  const channel = {
    send: (message: GatewayMessage) => void sent.push(message),
    onMessage: (received: (message: unknown) => void) => {
      receive = received
    },
  }
  const opening = openKeeperLink(channel, {
    updated: () => {
      throw new Error("a disk that cannot be read")
    },
    draining: () => undefined,
    connections: () => 0,
  })
  opening.catch(() => undefined) // it is never configured here

  const updates = { kind: "updates", advances: [], changes: [], resync: false }
  expect(() => receive(updates)).toThrow("a disk that cannot be read")

  expect(sent).toEqual([{ kind: "updates-received" }])
})

describe("an answer of the keeper to one question", () => {
  test("is what was asked for, or an internal error, and never nothing", async () => {
    const executionId = sampleId(1)
    const origin = { principal: "local", address: "unix", via: "websocket" }
    const methods = fc.constantFrom("live", "find", "remove", "control")
    const results = fc.oneof(fc.anything(), fc.jsonValue(), fc.constant({ record: null }))
    await fc.assert(
      fc.asyncProperty(methods, results, async (method, result) => {
        const { link, receive } = await openLink()
        const asked =
          method === "control"
            ? link.call(method, { origin, executionId, type: "PAUSE" })
            : link.call(method, { executionId })

        receive({ kind: "answer", id: 1, result })

        const outcome = await asked
        if (outcome.ok) expect(keeperMethods[method].result.parse(outcome.value)).toBeDefined()
        else expect(outcome.failure.reason).toBe("INTERNAL")
      }),
      { numRuns: 500 },
    )
  })
})

describe("a keeper that is gone", () => {
  test("is told to whoever wants to know something, not of what it was to do", async () => {
    const { link } = await openLink()
    const executionId = sampleId(1)
    const origin = { principal: "local", address: "unix", via: "websocket" }
    const asked = link.call("find", { executionId })
    const ordered = link.call("control", { origin, executionId, type: "PAUSE" })

    link.lose()
    const outcomes = [await asked, await link.call("find", { executionId })]
    const refused = await link.call("control", { origin, executionId, type: "PAUSE" })

    for (const outcome of [...outcomes, refused]) {
      expect(outcome).toMatchObject({ ok: false, failure: { reason: "SHUTTING_DOWN" } })
    }
    expect(await Promise.race([ordered, Promise.resolve("no answer")])).toBe("no answer")
  })
})

async function openLink() {
  let receive = (_message: unknown): void => undefined
  const channel: Channel = {
    send: () => undefined,
    onMessage: (received) => {
      receive = received
    },
  }
  const opening = openKeeperLink(channel, {
    updated: () => undefined,
    draining: () => undefined,
    connections: () => 0,
  })
  receive({ kind: "configure", settings: sampleSettings, admits: true })
  return { link: await opening, receive }
}
