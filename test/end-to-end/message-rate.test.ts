import { describe, expect, test } from "bun:test"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken } from "../support/tokens.ts"

describe("a client that sends faster than it may", () => {
  test("is told to wait, then closed, while others are answered", async () => {
    await using service = await Service.start({ flags: { "messages-per-second": "20" } })
    using hasty = await RawSession.open(await service.url())
    using other = await RawSession.open(await service.url())

    const ids = Array.from({ length: 60 }, () => hasty.request("list", { limit: 1 }))
    const answers = await Promise.all(ids.map((id) => hasty.response(id)))
    const refused = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []))
    expect(refused.length).toBeGreaterThanOrEqual(15)
    for (const { code, data } of refused) {
      expect([code, data.reason]).toEqual([-32005, "RATE_LIMITED"])
      expect(data["retry_after"]).toBeGreaterThan(0)
    }
    for (let count = 0; count < 300; count += 1) hasty.request("list", { limit: 1 })

    expect(await hasty.closed).toMatchObject({ code: 1008, reason: "RATE_LIMITED" })
    expect((await other.run({ command: "echo calm" })).stdout).toBe("calm\n")
  })

  test("over HTTP is told so too, by its own name", async () => {
    await using service = await Service.start({ flags: { "messages-per-second": "5" } })
    const hasty = await makeToken(service.stateDir, { name: "hasty" })
    const other = await makeToken(service.stateDir, { name: "other" })
    const url = await service.url("/executions")

    const answers = await Promise.all(Array.from({ length: 30 }, () => fetch(url, bearing(hasty))))
    const late = answers.find(({ status }) => status === 429)

    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10)
    expect(Number(late?.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await fetch(url, bearing(other))).status).toBe(200)
  })
})

describe("sessions", () => {
  test("of one principal have a bound of their own; the owner's unix socket has room", async () => {
    const flags = { "max-sessions": "3", "max-sessions-per-principal": "2" }
    await using service = await Service.start({ flags })
    const token = await makeToken(service.stateDir, { name: "many" })
    using _first = await RawSession.open(await service.url(), bearing(token))
    using _second = await RawSession.open(await service.url(), bearing(token))
    using third = new RawSession(await service.url(), bearing(token))
    expect(await third.closed).toMatchObject({ code: 1008, reason: "SESSION_LIMIT" })

    using _ours = await RawSession.open(await service.url())
    using fourth = new RawSession(await service.url())
    expect(await fourth.closed).toMatchObject({ code: 1008, reason: "SESSION_LIMIT" })

    const unix = `ws+unix://${service.stateDir}/gateway.sock:/ws/mcp`
    using owner = await RawSession.open(unix)
    expect((await owner.call("list", {})).executions).toEqual([])
  })
})
