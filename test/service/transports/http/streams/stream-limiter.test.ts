import { describe, expect, test } from "bun:test"
import { StreamLimiter } from "../../../../../src/service/transports/http/streams/stream-limiter.ts"
import { bearer, localUser } from "../../../../support/callers.ts"
import { httpService, refusalOf } from "../http-service.ts"

describe("streams", () => {
  test("are so many of one principal, and of all together", () => {
    const streams = new StreamLimiter({ maxStreams: 3, maxStreamsPerPrincipal: 1 })
    const first = streams.acquire(bearer("alice", "read"))

    expect(first.ok).toBe(true)
    expect(streams.acquire(bearer("alice", "read")).ok).toBe(false)
    expect([streams.acquire(localUser).ok, streams.acquire(localUser).ok]).toEqual([true, true])
    expect(streams.acquire(bearer("bob", "read")).ok).toBe(false)
    if (first.ok) first.value.dispose()
    expect(streams.acquire(bearer("bob", "read")).ok).toBe(true)
  })

  test("give their place back when they end, are left, or were none after all", async () => {
    const service = httpService({ streams: { maxStreams: 10, maxStreamsPerPrincipal: 1 } })
    const { path } = service.run()
    for (let round = 0; round < 3; round += 1) {
      const events = await service.get("/events")
      expect(events.status).toBe(200)
      expect(await refusalOf(await service.get("/events"))).toEqual([503, "SESSION_LIMIT"])
      await events.body?.cancel()
      expect((await service.get(`${path}x/output`)).status).toBe(404)
      const head = await service.app.request("/events", { method: "HEAD" })
      expect(head.status).toBe(200)
      const output = await service.get(`${path}/output?follow=false`)
      expect(output.status).toBe(200)
      await output.arrayBuffer()
      const transcript = await service.get(`${path}/transcript`)
      expect(transcript.status).toBe(200)
      await transcript.text()
    }
  })
})
