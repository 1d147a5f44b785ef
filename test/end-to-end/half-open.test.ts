import { describe, expect, test } from "bun:test"
import { fixture } from "../support/independent-run.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

describe("a client that has stopped reading, with a stream timeout of two seconds", () => {
  test("is closed, while its execution and a client that is only silent go on", async () => {
    await using service = await Service.start({ flags: { "stream-timeout": "2s" } })
    const url = await service.url()
    using silent = await StreamClient.connect(url)
    using deaf = await StreamClient.connect(url)
    const { id, output } = await deaf.execute({
      argv: fixture("count-until-told.ts"),
      stdin: "pipe",
    })
    await until("it flows", () => output.lines > 0)

    deaf.stall()
    await until("it is closed", () => service.log.some((line) => line.includes("timed out")))
    const { state, bytes } = await silent.call("status", { execution_id: id })
    const received = await silent.attach({ execution_id: id })
    await until("more than there was", () => received.bytes > bytes.stdout)
    await silent.call("input", { execution_id: id, data: "\n" })
    const completed = await received.completed

    expect(state).toBe("running")
    expect(completed.exit_code).toBe(7)
    expect(received.hash("stdout")).toBe(completed.hashes?.stdout ?? "")
    expect(service.log.filter((line) => line.includes("timed out"))).toHaveLength(1)
  }, 60_000)
})
