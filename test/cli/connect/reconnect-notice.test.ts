import { describe, expect, test } from "bun:test"
import { reconnectNotice } from "../../../src/cli/connect/reconnect-notice.ts"
import { until } from "../../support/until.ts"
import { fakeContext, fakeOutput } from "../fake-context.ts"

const connected = { kind: "connected", sessionId: "s" } as const
const waiting = { kind: "waiting", attempt: 1, delayMs: 50, why: "closed" } as const

describe("a connection that is cut", () => {
  test("is told on a terminal once it lasts, and so is its return", async () => {
    const context = fakeContext({ stderr: fakeOutput({ isTty: true }) })
    const notice = reconnectNotice(context)

    notice(connected)
    notice(waiting)
    expect(context.stderr.text()).toBe("")
    await until("it is told", () => context.stderr.text().includes("reconnecting…"))
    notice(connected)

    expect(context.stderr.text()).toContain("reconnected")
  })

  test("and comes back at once is not worth a word", async () => {
    const context = fakeContext({ stderr: fakeOutput({ isTty: true }) })
    const notice = reconnectNotice(context)

    notice(connected)
    notice(waiting)
    notice(connected)

    expect(context.stderr.text()).toBe("")
  })

  test.each([
    ["on a pipe", fakeContext()],
    ["in CI", fakeContext({ stderr: fakeOutput({ isTty: true }), env: { CI: "1" } })],
  ])("is never told %s", (_, context) => {
    const notice = reconnectNotice(context)

    notice(connected)
    notice(waiting)
    notice(connected)

    expect(context.stderr.text()).toBe("")
  })
})
