import { describe, expect, test } from "bun:test"
import { failure } from "../../../src/protocol/failure.ts"
import { Tarpit, TemporaryBans } from "../../../src/service/access/temporary-bans.ts"
import {
  ConnectionLimiter,
  HandshakeFailures,
} from "../../../src/service/gateway/listen/connection-limiter.ts"
import { bearer } from "../../support/callers.ts"

describe("places of an address", () => {
  test("are so many, and come back once each", () => {
    const places = new ConnectionLimiter(2)
    const first = places.acquire("192.0.2.7")
    places.acquire("192.0.2.7")

    expect(places.acquire("192.0.2.7")).toBeNull()
    expect(places.acquire("192.0.2.8")).not.toBeNull()
    first?.[Symbol.dispose]()
    first?.[Symbol.dispose]()
    expect(places.acquire("192.0.2.7")).not.toBeNull()
    expect(places.acquire("192.0.2.7")).toBeNull()
  })

  test("are those of a whole IPv6 network", () => {
    const places = new ConnectionLimiter(2)
    for (const host of [1, 2]) expect(places.acquire(`2001:db8:0:1::${host}`)).not.toBeNull()

    expect(places.acquire("2001:db8:0:1:ffff::3")).toBeNull()
    expect(places.acquire("2001:db8:0:2::3")).not.toBeNull()
  })

  test.each(["unix", "127.0.0.1", "::1", "::ffff:127.0.0.1"])("have no bound on %s", (address) => {
    const places = new ConnectionLimiter(1)
    expect([places.acquire(address), places.acquire(address)]).not.toContain(null)
  })
})

describe("whoever fails to show a certificate again and again", () => {
  test("is not listened to for a while, and nobody on loopback is", () => {
    let nowMs = 0
    const knocks = new HandshakeFailures(() => nowMs)
    for (let count = 0; count < 20; count += 1) {
      for (const address of ["192.0.2.7", "127.0.0.1"]) knocks.add(address)
    }

    expect(knocks.isBlocked("192.0.2.7")).toBe(true)
    expect(knocks.isBlocked("192.0.2.8")).toBe(false)
    expect(knocks.isBlocked("127.0.0.1")).toBe(false)
    nowMs = 2000
    expect(knocks.isBlocked("192.0.2.7")).toBe(false)
  })
})

describe("whoever was cut off for flooding", () => {
  test("stays outside for five seconds; others of its name, or of its address, do not", () => {
    let nowMs = 0
    const bans = new TemporaryBans(() => nowMs)
    const flooder = bearer("alice", "read")
    bans.ban(flooder)

    const refused = { ok: false, failure: { reason: "RATE_LIMITED", details: { retry_after: 5 } } }
    expect(bans.check(flooder)).toMatchObject(refused)
    expect(bans.check({ ...flooder, address: "192.0.2.8" }).ok).toBe(true)
    expect(bans.check(bearer("bob", "read")).ok).toBe(true)
    nowMs = 5000
    expect(bans.check(flooder).ok).toBe(true)
  })
})

describe("a refusal to who asks too fast", () => {
  test("is held as long as it says, a second at most; others are told at once", async () => {
    const delays: number[] = []
    const tarpit = new Tarpit(async (delayMs) => void delays.push(delayMs))

    await tarpit.hold(failure("RATE_LIMITED", "slowly", { retry_after: 0.2 }))
    await tarpit.hold(failure("RATE_LIMITED", "slowly", { retry_after: 60 }))
    await tarpit.hold(failure("UNAUTHORIZED", "no"))

    expect(delays).toEqual([200, 1000])
  })

  test("is told at once where a thousand wait already", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let held = 0
    const tarpit = new Tarpit(() => {
      held += 1
      return promise
    })
    const refusal = failure("RATE_LIMITED", "slowly", { retry_after: 1 })
    const waiting = Array.from({ length: 1000 }, () => tarpit.hold(refusal))

    await tarpit.hold(refusal)

    expect(held).toBe(1000)
    resolve()
    await Promise.all(waiting)
  })
})
