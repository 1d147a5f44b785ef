import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { fail, ok } from "../../../src/lib/result.ts"
import {
  type Bearer,
  type ConnectionAttempt,
  createIdentify,
  type IdentifyOptions,
  type TokenCheck,
} from "../../../src/service/access/identify.ts"
import { Tickets, ticketLifeMs } from "../../../src/service/access/tickets.ts"
import { bearer, localUser } from "../../support/callers.ts"

const ownUid = 1000
const listener = { address: "127.0.0.1", port: 8003 }

/** A door with one token, `good`, whose bearer is ci; the clock is the test's. */
function doorkeeper(change: Partial<IdentifyOptions> = {}) {
  let nowMs = 0
  let made = 0
  const ci: Bearer = { id: "t1", name: "ci", scopes: ["read"] }
  const tokens: TokenCheck = {
    check(token) {
      if (token === "good") return ok(ci)
      if (token === "old") return fail("expired")
      return fail(token === "taken-back" ? "revoked" : "unknown")
    },
    isStillGood: () => true,
  }
  const tickets = new Tickets(
    () => `ticket-${(made += 1)}`,
    () => nowMs,
  )
  const identify = createIdentify({
    processOf: () => ({ kind: "elsewhere" }),
    tokens,
    tickets,
    trustsLoopback: true,
    ownUid,
    uidOf: () => ownUid,
    certificateScopes: ["execute", "read"],
    monotonicMs: () => nowMs,
    ...change,
  })
  const elapse = (ms: number) => {
    nowMs += ms
  }
  return { identify, tickets, elapse }
}

function from(
  address: string,
  headers: Record<string, string> = {},
  subject: string | null = null,
): ConnectionAttempt {
  const peer = { kind: "tcp", subject, peer: { address, port: 40_000 }, local: listener } as const
  return { via: "http", peer, headers: new Headers(headers), ticket: null }
}

function withToken(token: string, address = "192.0.2.7"): ConnectionAttempt {
  return from(address, { Authorization: `Bearer ${token}` })
}

const refused = { ok: false, failure: { reason: "UNAUTHORIZED" } }

describe("a connection over loopback", () => {
  test.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])(
    "from %s, of the service's own user, is that user's",
    (address) => {
      const { identify } = doorkeeper()
      expect(identify(from(address))).toMatchObject({ ok: true, value: { principal: "local" } })
    },
  )

  test("of root is the owner's too; of another user, or of nobody to be found, it is not", () => {
    for (const [uid, isIn] of [
      [0, true],
      [ownUid, true],
      [1001, false],
      [null, false],
    ] as const) {
      const { identify } = doorkeeper({ uidOf: () => uid })
      expect([uid, identify(from("127.0.0.1")).ok]).toEqual([uid, isIn])
    }
  })

  test("that was passed on needs a token, whoever owns the proxy", () => {
    const { identify } = doorkeeper()
    for (const header of [
      "X-Forwarded-For",
      "X-Forwarded",
      "X-Forwarded-Port",
      "forwarded",
      "VIA",
      "CF-Connecting-IP",
      "X-Envoy-External-Address",
    ]) {
      expect(identify(from("127.0.0.1", { [header]: "" }))).toMatchObject(refused)
    }
  })

  test("needs a token where what is run could come back by it", () => {
    const { identify } = doorkeeper({ trustsLoopback: false })
    expect(identify(from("127.0.0.1"))).toMatchObject(refused)
    expect(identify(withToken("good", "127.0.0.1")).ok).toBe(true)
  })
})

describe("a connection from elsewhere", () => {
  test.each(["192.0.2.7", "10.0.0.1", "::ffff:192.0.2.7", "2001:db8::1", "0.0.0.0"])(
    "from %s needs a token, whatever uid a look-up might say",
    (address) => {
      const { identify } = doorkeeper({ uidOf: () => 0 })
      expect(identify(from(address))).toMatchObject(refused)
    },
  )

  test("is whom its token names, with its scopes, until that is taken back", () => {
    let isGood = true
    const { identify } = doorkeeper({
      tokens: {
        check: () => ok({ id: "t", name: "ci", scopes: ["read"] }),
        isStillGood: () => isGood,
      },
    })
    const caller = identify(withToken("any"))
    if (!caller.ok) throw new Error("refused")

    expect(caller.value).toMatchObject({ principal: "ci", address: "192.0.2.7", via: "http" })
    expect([...caller.value.scopes]).toEqual(["read"])
    expect(caller.value.isStillGood()).toBe(true)
    isGood = false
    expect(caller.value.isStillGood()).toBe(false)
  })

  test("is whom its certificate names, unless it shows a token", () => {
    const { identify } = doorkeeper()
    const byCertificate = identify(from("192.0.2.7", {}, "build-7"))
    const token = { Authorization: "Bearer good" }
    const byToken = identify(from("192.0.2.7", token, "build-7"))

    expect(byCertificate).toMatchObject({ value: { principal: "cert:build-7" } })
    expect(byToken).toMatchObject({ value: { principal: "ci" } })
  })
})

describe("the unix socket", () => {
  const peer = { kind: "unix" } as const

  test("is its owner's; who shows a token there is taken at their word", () => {
    const { identify } = doorkeeper({ trustsLoopback: false })

    expect(identify({ ...from(""), peer })).toMatchObject({ value: { principal: "local" } })
    expect(identify({ ...withToken("good"), peer })).toMatchObject({ value: { principal: "ci" } })
    expect(identify({ ...withToken("bad"), peer })).toMatchObject(refused)
  })
})

describe("what is shown and wrong", () => {
  test.each(["Bearer", "Bearer ", "Basic Z29vZA==", "good", "Bearer good good", "Bearer  x y", ""])(
    "is refused: Authorization: %p",
    (Authorization) => {
      const { identify } = doorkeeper()
      expect(identify(from("127.0.0.1", { Authorization }))).toMatchObject(refused)
    },
  )

  test("is told apart only to who has had the right secret", () => {
    const { identify } = doorkeeper()
    const said = (token: string) => {
      const answer = identify(withToken(token))
      return answer.ok ? "" : answer.failure.message
    }

    expect(said("old")).toContain("expired")
    expect(said("taken-back")).toContain("revoked")
    expect(said("guess")).toBe(said("another guess".replace(" ", "")))
  })

  test("is refused ever more slowly by address, while what is right comes in", () => {
    const { identify, elapse } = doorkeeper()
    const reasonOf = (arrival: ConnectionAttempt) => {
      const answer = identify(arrival)
      return answer.ok ? "in" : answer.failure.reason
    }
    const tries = Array.from({ length: 30 }, () => reasonOf(withToken("guess")))

    expect(tries.indexOf("RATE_LIMITED")).toBe(20)
    expect(reasonOf(withToken("good"))).toBe("in")
    expect(reasonOf(withToken("guess", "192.0.2.8"))).toBe("UNAUTHORIZED")
    elapse(2000)
    expect(reasonOf(withToken("guess"))).toBe("UNAUTHORIZED")
    expect(reasonOf(withToken("guess"))).toBe("RATE_LIMITED")
  })

  test("counts for a whole IPv6 network, as whoever has one address has them all", () => {
    const { identify } = doorkeeper()
    for (let host = 1; host <= 20; host += 1) identify(withToken("x", `2001:db8:0:1::${host}`))

    expect(identify(withToken("x", "2001:db8:0:1:ffff::9"))).toMatchObject({
      failure: { reason: "RATE_LIMITED" },
    })
    expect(identify(withToken("x", "2001:db8:0:2::1"))).toMatchObject(refused)
  })
})

describe("a ticket", () => {
  test("admits once, in the name of who asked for it, from wherever it is shown", () => {
    const { identify, tickets } = doorkeeper()
    const ticket = tickets.issue(bearer("alice", "read"))
    const shown = { ...from("192.0.2.9"), ticket }

    expect(identify(shown)).toMatchObject({ value: { principal: "alice", address: "192.0.2.9" } })
    expect(identify(shown)).toMatchObject(refused)
  })

  test("runs out after a minute", () => {
    const { identify, tickets, elapse } = doorkeeper()
    const [early, late] = [tickets.issue(localUser), tickets.issue(localUser)]

    elapse(ticketLifeMs - 1)
    expect(identify({ ...from("127.0.0.1"), ticket: early }).ok).toBe(true)
    elapse(1)
    expect(identify({ ...from("127.0.0.1"), ticket: late })).toMatchObject(refused)
  })

  test("is one of a hundred of its principal at most: the oldest of these go", () => {
    const { tickets } = doorkeeper()
    const others = tickets.issue(bearer("alice", "read"))
    const first = tickets.issue(localUser)
    const second = tickets.issue(localUser)
    for (let count = 2; count <= 100; count += 1) tickets.issue(localUser)

    expect(tickets.redeem(first)).toBeNull()
    expect(tickets.redeem(second)).toBe(localUser)
    expect(tickets.redeem(others)).toMatchObject({ principal: "alice" })
  })
})

test("whatever stands in headers and ticket, nobody comes in by it, and nothing breaks", () => {
  const { identify } = doorkeeper({ uidOf: () => null })
  const header = fc.string().map((text) => text.replaceAll(/[^\x20-\x7e]/g, ""))
  fc.assert(
    fc.property(header, fc.option(fc.string()), fc.ipV4(), (authorization, ticket, address) => {
      const headers = { get: () => authorization, keys: () => new Headers().keys() }
      expect(identify({ ...from(address), headers, ticket }).ok).toBe(false)
    }),
  )
})
