import { describe, expect, test } from "bun:test"
import { Service } from "../support/service.ts"
import { SmallDisk } from "../support/small-disk.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const flags = { grace: "20s", "disk-floor": "0", ballast: "256k" }

// The record of a lost execution has the counts of the last event in its journal: where it may
// have been told of more since, it says that it does not count that.
describe("an execution whose keeper is killed", () => {
  test("does not claim to have counted all the input that was told to be taken", async () => {
    using folder = temporaryFolder()
    const { id, told } = await lost(folder.path, async (client) => {
      const started = await client.execute({ argv: ["cat"], stdin: "pipe" })
      const { offset } = await client.call("input", { execution_id: started.id, data: "hello\n" })
      return { id: started.id, told: offset }
    })

    const view = await statusAfterRestart(folder.path, id)

    expect(view.stdin_bytes).toBeLessThan(told)
    expect(view.ending?.reason).toEndWith("; input since its last journaled event is not counted")
  })

  testUnless(notRoot, "nor all that was told to be dropped", async () => {
    using disk = new SmallDisk("16m")
    const script = "trap '' TERM; read go; seq 1 300000; sleep 1000"
    const { id, told } = await lost(disk.path, async (client) => {
      const started = await client.execute({ argv: ["sh", "-c", script], stdin: "pipe" })
      const execution_id = started.id
      disk.fill()
      await client.call("input", { execution_id, data: "\n" })
      const dropped = await until("all of it is dropped", async () => {
        const view = await client.call("status", { execution_id })
        return view.dropped.lines === 300_000 && view.dropped.bytes
      })
      return { id: execution_id, told: dropped }
    })
    disk.empty()

    const view = await statusAfterRestart(disk.path, id)

    expect(view.dropped.bytes).toBeLessThan(told)
    expect(view.ending?.reason).toContain(
      "dropped output since its last journaled event is not counted",
    )
  })
})

async function lost<Fact>(
  stateDir: string,
  act: (client: StreamClient) => Promise<Fact>,
): Promise<Fact> {
  await using service = await Service.start({ stateDir, flags })
  using client = await StreamClient.connect(await service.url())
  const fact = await act(client)
  service.kill("SIGKILL")
  await service.exited
  return fact
}

async function statusAfterRestart(stateDir: string, execution_id: string) {
  await using service = await Service.start({ stateDir, flags })
  using client = await StreamClient.connect(await service.url())
  return await client.call("status", { execution_id })
}
