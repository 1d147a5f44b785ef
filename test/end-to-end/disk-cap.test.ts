import { describe, expect, test } from "bun:test"
import { CallError } from "../../src/client/client-error.ts"
import { rejection } from "../support/following.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const flags = { "max-disk-bytes": "1MiB" }
const writing = (bytes: number) =>
  shell(`head -c ${bytes} /dev/zero; echo ready >&2; exec sleep 1000`)

describe("a cap on all transcripts", () => {
  test("takes the oldest that have ended, and then lets nothing new start", async () => {
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    const old = await Steered.start(client, { argv: ["head", "-c", "700000", "/dev/zero"] })
    await old.ended()
    const young = await Steered.start(client, { argv: ["head", "-c", "200000", "/dev/zero"] })
    await young.ended()

    const live = await Steered.start(client, writing(600_000))
    await until("the oldest is gone", async () => {
      const read = client.call("transcript.read", { execution_id: old.id })
      return read.then(
        () => false,
        () => true,
      )
    })
    const kept = await client.call("transcript.read", { execution_id: young.id })
    const more = await Steered.start(client, writing(600_000))
    const refused = await until("live ones are too much", async () => {
      const asked = await rejection(client.call("execute", { argv: ["true"] })).catch(() => null)
      return asked instanceof CallError ? asked.failure : null
    })

    expect(kept.chunks.length).toBeGreaterThan(0)
    expect(refused).toMatchObject({ reason: "DISK_FULL", details: { retry_after: 1 } })
    await more.execution.cancel()
    await live.execution.cancel()
    // A cancel answers when the tree is gone, which is before the end is in the journal.
    await Promise.all([more.ended(), live.ended()])
    const after = await Steered.start(client, { argv: ["echo", "again"] })
    await after.ended()
    expect(after.text).toBe("again\n")
  })
})

describe("the longest running time", () => {
  test("holds for who asks for none, and refuses who asks for more", async () => {
    await using service = await Service.start({ flags: { "max-timeout": "400ms" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell("exec sleep 1000"))

    expect((await run.status()).timeout).toBe(0.4)
    expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "wall-timeout" })
    expect((await run.receipt()).spec.wallTimeoutMs).toBe(400)
    const longer = { argv: ["true"], timeout: 0.5 }
    expect(await refusal(client.call("execute", longer))).toMatchObject({
      reason: "INVALID_PARAMS",
      details: { limit: "timeout", most: 0.4 },
    })
    const shorter = await Steered.start(client, { argv: ["true"], timeout: 0.3 })
    expect(await shorter.ended()).toMatchObject({ exit_code: 0 })
  })
})
