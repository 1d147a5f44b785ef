import { describe, expect, test } from "bun:test"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const request: ParamsOf<"execute"> = {
  argv: ["/bin/sh", "-c", "echo $$; read go; exit 4"],
  stdin: "pipe",
}
const key = { idempotency_key: "once" }

describe("the same request with the same key", () => {
  test("finds the execution again, from another connection, while it runs and after", async () => {
    await using service = await Service.start()
    const url = await service.url()
    const first = await StreamClient.connect(url)
    const { id, output } = await first.execute({ ...request, ...key })
    await until("its pid", () => output.lines === 1)
    first.cut()

    using second = await StreamClient.connect(url)
    const whileItRuns = await second.call("execute", { ...request, ...key })
    const again = second.output(id)
    await second.call("input", { execution_id: id, data: "\n" })
    const completed = await again.completed
    using third = await StreamClient.connect(url)
    const afterItsEnd = await third.call("execute", { ...request, ...key })
    const late = await third.output(id).completed

    expect(whileItRuns).toMatchObject({ execution_id: id, repeated: true, status: "started" })
    expect(afterItsEnd).toMatchObject({ execution_id: id, repeated: true })
    expect(again.tail("stdout")).toBe(output.tail("stdout"))
    expect([completed.exit_code, late.exit_code]).toEqual([4, 4])
    expect((await third.call("list", {})).executions).toHaveLength(1)
  })

  test("sent by ten connections at once starts one execution", async () => {
    await using service = await Service.start()
    const url = await service.url()
    using cleanup = new DisposableStack()
    const clients = await Promise.all(
      Array.from({ length: 10 }, async () => cleanup.use(await StreamClient.connect(url))),
    )

    const answers = await Promise.all(
      clients.map((client) => client.call("execute", { command: "echo hello", ...key })),
    )

    expect(new Set(answers.map(({ execution_id }) => execution_id)).size).toBe(1)
    expect(answers.filter(({ repeated }) => repeated !== true)).toHaveLength(1)
  })

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "finds it after a restart by %s",
    async (signal) => {
      using folder = temporaryFolder()
      await using before = await Service.start({ stateDir: folder.path })
      using client = await StreamClient.connect(await before.url())
      const { id: finished, output } = await client.execute({ command: "false", ...key })
      await output.completed
      const unfinished = { argv: ["sleep", "100000"], idempotency_key: "other" }
      const { id: ended } = await client.execute(unfinished)
      before.kill(signal)
      await before.exited

      await using after = await Service.start({ stateDir: folder.path })
      using another = await StreamClient.connect(await after.url())
      const again = await another.call("execute", { command: "false", ...key })
      const other = await another.call("execute", unfinished)
      const [known, cut] = await Promise.all([
        another.output(again.execution_id).completed,
        another.output(other.execution_id).completed,
      ])

      expect(again).toMatchObject({ execution_id: finished, repeated: true })
      expect(other).toMatchObject({ execution_id: ended, repeated: true })
      expect(known.exit_code).toBe(1)
      expect(cut).toMatchObject(
        signal === "SIGTERM" ? { outcome: "stopped", cause: "shutdown" } : { outcome: "lost" },
      )
      expect((await another.call("list", {})).executions).toHaveLength(2)
    },
    60_000,
  )

  test("is refused as expired when its execution has been removed", async () => {
    await using service = await Service.start()
    using client = await StreamClient.connect(await service.url())
    const { id, output } = await client.execute({ command: "true", ...key })
    await output.completed
    await client.call("remove", { execution_id: id })

    expect(await client.refusal("execute", { command: "true", ...key })).toBe("EXPIRED")
  })
})

describe("another request with the same key", () => {
  test("is refused, and nothing is started", async () => {
    await using service = await Service.start()
    using client = await StreamClient.connect(await service.url())
    const { output } = await client.execute({ command: "echo one", ...key })
    await output.completed

    const reasons = await Promise.all(
      [
        { command: "echo two" },
        { command: "echo one", cwd: "/" },
        { command: "echo one", env: { NAME: "value" } },
        { command: "echo one", timeout: 60 },
        { argv: ["echo", "one"] },
      ].map((other) => client.refusal("execute", { ...other, ...key })),
    )

    expect(new Set(reasons)).toEqual(new Set(["IDEMPOTENCY_MISMATCH"]))
    expect((await client.call("list", {})).executions).toHaveLength(1)
  })

  test("is a request of its own without the key", async () => {
    await using service = await Service.start()
    using client = await StreamClient.connect(await service.url())
    await client.execute({ command: "true", ...key })

    await client.execute({ command: "true" })
    await client.execute({ command: "true" })

    expect((await client.call("list", {})).executions).toHaveLength(3)
  })

  test("may start what the first one could not", async () => {
    await using service = await Service.start()
    using client = await StreamClient.connect(await service.url())
    const refused = await client.refusal("execute", { argv: ["/no/such/program"], ...key })

    const { output } = await client.execute({ command: "echo started", ...key })
    await output.completed

    expect(refused).toBe("SPAWN_FAILED")
    expect(output.tail("stdout")).toBe("started\n")
  })
})
