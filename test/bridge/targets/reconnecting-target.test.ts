import { describe, expect, test } from "bun:test"
import { cancellation, type Message, readMessages } from "../../../src/bridge/messages/message.ts"
import { noResumeState, type OpenTarget } from "../../../src/bridge/ports.ts"
import type { Link, LinkEnd, Received } from "../../../src/bridge/targets/reconnecting/link.ts"
import {
  systemClock,
  targetLimits,
  targetOpener,
} from "../../../src/bridge/targets/target-opener.ts"
import { ok } from "../../../src/lib/result.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { until } from "../../support/until.ts"

const never = new Promise<never>(() => undefined)

function openTarget(open: (received: Received) => Link): OpenTarget {
  return targetOpener(
    {
      kind: "connection",
      name: "target",
      isOurs: false,
      open: async (received) => ok(open(received)),
    },
    {
      retry: { tries: 5, forMs: 1_000, firstDelayMs: 1, maxDelayMs: 1 },
      breaker: { failures: 10, waitMs: 1_000 },
      limits: targetLimits(1024),
      clock: systemClock,
      log: new QuietLog(),
      callMeta: {},
    },
  )
}

function message(value: object): Message {
  const [read] = readMessages(JSON.stringify(value))
  if (read?.ok !== true) throw new Error("no message")
  return read.value
}

describe("a target that reads nothing", () => {
  test("can be closed while the first message is being sent", async () => {
    let isSending = false
    let isClosed = false
    const open = openTarget(() => ({
      isOpen: true,
      ended: never,
      send() {
        isSending = true
        return never
      },
      async close() {
        isClosed = true
      },
    }))
    const target = open(async () => undefined, noResumeState)
    await target.send(message({ id: 1, method: "ping" }))
    await until("it sends", () => isSending)

    await target.close("ended")

    expect(isClosed).toBe(true)
  })
})

describe("a target whose connection is lost", () => {
  test("is not sent a request again that is cancelled meanwhile", async () => {
    const lost = Promise.withResolvers<LinkEnd>()
    const reading = Promise.withResolvers<void>()
    const sent: string[] = []
    const delivered: Message[] = []
    const connections: Received[] = []
    const open = openTarget((received) => {
      connections.push(received)
      return {
        isOpen: true,
        ended: connections.length === 1 ? lost.promise : never,
        async send(text) {
          sent.push(text)
        },
        close: async () => undefined,
      }
    })
    const target = open(async (said) => {
      delivered.push(said)
      if (said.kind === "answer") await reading.promise
    }, noResumeState)
    const params = { _meta: { progressToken: 1 } }
    await target.send(message({ id: 1, method: "tools/call", params }))
    await target.send(message({ id: 2, method: "ping" }))
    await until("both are sent", () => sent.length === 2)

    // A call that has begun is not sent again: its client is told.
    const progress = { method: "notifications/progress", params: { progressToken: 1 } }
    await connections[0]?.(JSON.stringify(progress))
    lost.resolve({ why: "cut", isTransient: true })
    await until("the client is told", () => delivered.length === 2)
    await target.send(cancellation(2, "not wanted any more"))
    reading.resolve()
    await target.send(message({ id: 3, method: "ping" }))
    await until("it is connected again", () => sent.some((text) => text.includes('"id":3')))
    await target.close("ended")

    expect(sent.filter((text) => text.includes('"id":2'))).toHaveLength(1)
  })
})
