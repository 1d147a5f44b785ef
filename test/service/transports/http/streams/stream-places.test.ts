import { describe, expect, test } from "bun:test"
import { StreamPlaces } from "../../../../../src/service/transports/http/streams/stream-places.ts"
import { bearer, localUser } from "../../../../support/callers.ts"
import { httpService, refusalOf } from "../http-service.ts"

describe("streams", () => {
  test("are so many of one principal, and of all together", () => {
    const places = new StreamPlaces({ maxStreams: 3, maxStreamsPerPrincipal: 1 })
    const first = places.take(bearer("alice", "read"))

    expect(first.ok).toBe(true)
    expect(places.take(bearer("alice", "read")).ok).toBe(false)
    expect([places.take(localUser).ok, places.take(localUser).ok]).toEqual([true, true])
    expect(places.take(bearer("bob", "read")).ok).toBe(false)
    if (first.ok) first.value.dispose()
    expect(places.take(bearer("bob", "read")).ok).toBe(true)
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
