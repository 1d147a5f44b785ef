import { describe, expect, test } from "bun:test"
import { z } from "zod"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

const request: ParamsOf<"execute"> = {
  argv: ["/bin/sh", "-c", "echo ready; read go; echo after; exit 4"],
  stdin: "pipe",
  idempotency_key: "once",
}

describe("an execution that is asked for again at the moment its only follower leaves", () => {
  test("is followed by the one who asked, to its end", async () => {
    await using service = await Service.start()
    const url = await service.url()
    using first = await StreamClient.connect(url)
    const { id, output } = await first.execute(request)
    await until("it is ready", () => output.tail("stdout") === "ready\n")
    using second = await StreamClient.connect(url)

    // While the keeper stands still, the gateway hears of both, one right after the other.
    process.kill(service.pid, "SIGSTOP")
    const asked = second.call("execute", request)
    await sessionsOf(service) // what was said before is heard
    first.cut()
    await until("its leaving is noticed", async () => (await sessionsOf(service)) === 1)
    process.kill(service.pid, "SIGCONT")
    const { execution_id, repeated } = await asked
    await second.call("input", { execution_id, data: "\n" })
    const completed = await second.output(id).completed

    expect({ execution_id, repeated }).toEqual({ execution_id: id, repeated: true })
    expect(second.output(id).tail("stdout")).toBe("ready\nafter\n")
    expect(completed.exit_code).toBe(4)
  })
})

async function sessionsOf(service: Service): Promise<number> {
  const answer = await fetch(await service.url("/health"))
  return z.object({ sessions: z.int() }).parse(await answer.json()).sessions
}
