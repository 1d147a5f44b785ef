import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { DeliveryView } from "../../src/protocol/notify.ts"
import { memoryOf } from "../support/memory-of.ts"
import { NotificationReceiver, TargetsFile } from "../support/notification-receiver.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { clientOf } from "../support/steered.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const hugeBytes = byScale({ short: 256, full: 1024, long: 1024 }) * 1024 * 1024

type Stage = {
  service: Service
  /** Ends an execution, and waits until the bad target has been tried so often. */
  tried: (times: number) => Promise<DeliveryView>
  good: NotificationReceiver
}

/** A service with a target that is well, and one that is not. */
async function withBadTarget(url: string, work: (stage: Stage) => Promise<void>): Promise<void> {
  using good = new NotificationReceiver()
  using targets = new TargetsFile({
    bad: TargetsFile.hook(url),
    good: TargetsFile.hook(good.url),
  })
  await using service = await Service.start({ flags: targets.flags })
  await using client = await clientOf(service)
  await work({
    service,
    good,
    async tried(times) {
      const run = await client.execute({ argv: ["true"] })
      await run.ended
      await good.whenGot(1) // whatever the other one does
      return until(`${times} attempts`, async () => {
        const { deliveries } = await client.call("notify.list", { target: "bad" })
        const [delivery] = deliveries
        return delivery !== undefined && delivery.attempt_count >= times && delivery
      })
    },
  })
}

describe("a receiver", () => {
  test.each(fewIfShort(2, [500, 404, 503, 401]))(
    "that answers %d is tried again",
    async (status) => {
      using bad = new NotificationReceiver((_, count) =>
        count === 1 ? new Response("no", { status }) : new Response("yes"),
      )
      await withBadTarget(bad.url, async ({ tried }) => {
        const delivery = await tried(2)

        expect(delivery).toMatchObject({ state: "delivered", attempt_count: 2 })
        expect(delivery.attempts).toMatchObject([
          { number: 1, result: "failed", status, why: `it answered ${status}` },
          { number: 2, result: "delivered", status: 200 },
        ])
      })
    },
  )

  test.each([410, 400])("that answers %d is not asked again", async (status) => {
    using bad = new NotificationReceiver(() => new Response("never", { status }))
    await withBadTarget(bad.url, async ({ tried }) => {
      const delivery = await tried(1)

      expect(delivery).toMatchObject({ state: "refused", next_attempt_at: null })
      expect(bad.all).toHaveLength(1)
    })
  })

  test("that asks to be left alone is", async () => {
    using bad = new NotificationReceiver(
      () => new Response("later", { status: 429, headers: { "Retry-After": "120" } }),
    )
    await withBadTarget(bad.url, async ({ tried }) => {
      const { next_attempt_at } = await tried(1)
      expect(Date.parse(next_attempt_at ?? "") - Date.now()).toBeGreaterThan(100_000)
    })
  })

  test("that redirects to another host is told of, and not followed", async () => {
    using other = new NotificationReceiver()
    const elsewhere = { Location: other.url }
    using bad = new NotificationReceiver(
      () => new Response(null, { status: 307, headers: elsewhere }),
    )
    await withBadTarget(bad.url, async ({ tried }) => {
      const { attempts } = await tried(1)

      expect(attempts[0]?.why).toBe("it redirects to another host, which is not followed")
      expect(other.all).toEqual([])
    })
  })

  test("that redirects on its own host is followed, but not for ever", async () => {
    using bad = new NotificationReceiver(({ path }) => {
      const Location = path === "/hook" ? "/moved" : "/moved/again"
      if (path === "/moved") return new Response("here")
      return new Response(null, { status: 308, headers: { Location } })
    })
    await withBadTarget(bad.url, async ({ tried }) => {
      expect(await tried(1)).toMatchObject({ state: "delivered" })
      expect(bad.all.map(({ path }) => path)).toEqual(["/hook", "/moved"])
    })
    await withBadTarget(bad.url.replace("/hook", "/round"), async ({ tried }) => {
      const { attempts } = await tried(1)
      expect(attempts[0]?.why).toBe("it redirects again and again")
    })
  })

  test("that answers with a flood is heard no further, and costs no memory", async () => {
    const piece = new Uint8Array(1024 * 1024)
    let sent = 0
    using bad = new NotificationReceiver(() => {
      const flood = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += piece.length
          controller.enqueue(piece)
          if (sent >= hugeBytes) controller.close()
        },
      })
      return new Response(flood)
    })
    await withBadTarget(bad.url, async ({ tried, service }) => {
      const before = memoryOf(service.gatewayPid).nowMb
      const delivery = await tried(1)

      expect(delivery).toMatchObject({ state: "delivered" })
      expect(delivery.attempts[0]?.why).toContain("cut off after 65536 bytes")
      const { peakMb } = memoryOf(service.gatewayPid)
      console.log(`${(sent / 1024 / 1024).toFixed(0)} MB left the receiver; the gateway grew from`)
      console.log(`${before.toFixed(0)} to ${peakMb.toFixed(0)} MB`)
      expect(peakMb - before).toBeLessThan(60)
      expect(sent).toBeLessThan(hugeBytes)
    })
  })

  test("that says nothing, or never ends, is given ten seconds", async () => {
    using silent = new NotificationReceiver(() => new Promise<Response>(() => undefined))
    using endless = new NotificationReceiver(() => {
      const drops = new ReadableStream<Uint8Array>({
        async pull(controller) {
          controller.enqueue(new Uint8Array(1))
          await Bun.sleep(200)
        },
      })
      return new Response(drops)
    })
    using good = new NotificationReceiver()
    using targets = new TargetsFile({
      silent: TargetsFile.hook(silent.url),
      endless: TargetsFile.hook(endless.url),
      good: TargetsFile.hook(good.url),
    })
    await using service = await Service.start({ flags: targets.flags })
    await using client = await clientOf(service)
    for (let count = 0; count < 20; count += 1)
      await (await client.execute({ argv: ["true"] })).ended
    await good.whenGot(20)
    for (const target of ["silent", "endless"]) {
      const tried = await until(`${target} was tried`, async () => {
        const { deliveries } = await client.call("notify.list", { target })
        return deliveries.find(({ attempts }) => attempts.length > 0)
      })
      expect(tried.attempts[0]).toMatchObject({
        result: "failed",
        why: "no whole answer within 10 s",
      })
      expect(tried.attempts[0]?.took_ms).toBeGreaterThan(9_000)
    }
  })

  test("that answers with headers without end is heard no further", async () => {
    const header = `X-Flood: ${"x".repeat(60_000)}\r\n`
    using bad = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write("HTTP/1.1 200 OK\r\n")
          while (socket.write(header) > 0);
        },
        drain(socket) {
          while (socket.write(header) > 0);
        },
      },
    })
    await withBadTarget(`http://127.0.0.1:${bad.port}/`, async ({ tried }) => {
      const { attempts } = await tried(1)
      expect(attempts[0]?.why).toBe("the headers of its answer are too large")
    })
  })

  const closings: Array<[string, string]> = [
    ["in the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"],
    ["at once", ""],
    ["in the head", "HTTP/1.1 200 OK\r\nContent-Le"],
    ["with no HTTP at all", "220 smtp.example.net ESMTP\r\n"],
  ]
  test.each(fewIfShort(2, closings))(
    "that closes %s is told of, and tried again",
    async (_, said) => {
      using bad = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          data(socket) {
            socket.write(said)
            socket.end()
          },
        },
      })
      await withBadTarget(`http://127.0.0.1:${bad.port}/`, async ({ tried }) => {
        const delivery = await tried(2)

        expect(delivery.state).toBe("pending")
        const [first] = delivery.attempts
        expect(first).toMatchObject({ result: "failed" })
        expect(first?.why).not.toBe("")
      })
    },
  )

  test("that is gone harms nothing else, and is tried with one message now and then", async () => {
    using good = new NotificationReceiver()
    using targets = new TargetsFile({
      dead: TargetsFile.hook("http://127.0.0.1:1/"),
      good: TargetsFile.hook(good.url),
    })
    await using service = await Service.start({ flags: targets.flags })
    await using client = await clientOf(service)
    const ends = Array.from({ length: 50 }, async () => {
      await (await client.execute({ argv: ["true"] })).ended
    })
    await Promise.all(ends)
    await good.whenGot(50)

    const { targets: told } = await until("it is taken for dead", async () => {
      const listed = await client.call("notify.list", { target: "dead" })
      const [dead, well] = listed.targets
      return dead?.failing_since !== null && well?.pending === 0 && listed
    })
    expect(told).toMatchObject([{ name: "dead", pending: 50 }, { name: "good" }])
    const { deliveries } = await client.call("notify.list", { target: "dead", limit: 1000 })
    const attempts = deliveries.reduce((sum, { attempt_count }) => sum + attempt_count, 0)
    expect(attempts).toBeLessThan(20)
    const warned = service.log.filter((line) => line.includes("notifications do not arrive"))
    expect(warned).toHaveLength(1)
  })
})
