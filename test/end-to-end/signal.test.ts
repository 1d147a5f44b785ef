import { describe, expect, test } from "bun:test"
import { describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"

const echoing =
  'for name in HUP INT USR1 USR2 WINCH; do trap "echo got $name" $name; done; ' +
  "echo ready; while :; do sleep 0.01; done"

describeEachContainment("a signal", (containment) => {
  test("reaches the child by its name in any form, and by its number", async () => {
    await using service = await Service.start({ flags: { containment } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell(echoing))
    await run.untilLine(/^ready$/)

    const spellings: Array<[string | number, string]> = [
      ["SIGUSR1", "USR1"],
      ["USR2", "USR2"],
      ["sighup", "HUP"],
      ["winch", "WINCH"],
      [2, "INT"],
      ["10", "USR1"],
    ]
    for (const [signal, name] of spellings) {
      const before = run.text.split(`got ${name}\n`).length
      await run.execution.signal(signal)
      await run.untilCount(`got ${name}\n`, before)
    }

    expect((await run.status()).state).toBe("running")
    await run.execution.signal("KILL")
    expect(await run.ended()).toMatchObject({ outcome: "signaled", signal: "SIGKILL", cause: null })
    await expectNothingLeft(service, run.id)
  })

  test("reaches every process of the tree, and says how many", async () => {
    await using service = await Service.start({ flags: { containment } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("busy-tree.sh"))
    const words = ["leader", "child-one", "child-two", "grandchild"]
    const members = await Promise.all(words.map((word) => run.untilProcess(word)))

    const { processes } = await run.execution.signal("SIGTERM")

    expect(processes).toBe(4)
    expect(await run.ended()).toMatchObject({ outcome: "signaled", signal: "SIGTERM", cause: null })
    expect((await run.receipt()).killed_after_exit).toEqual([])
    await expectNothingLeft(service, run.id, members)
  })
})

describe("a signal that cannot be sent", () => {
  test("is refused: unknown, missing, out of range, to nobody, and too late", async () => {
    await using service = await Service.start()
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell("echo ready; exec sleep 1000"))
    await run.untilLine(/^ready$/)
    const { id: execution_id } = run

    for (const signal of ["SIGNONE", "", "TERM ", 0, 65, -1, 1.5, "99", undefined]) {
      const asked = client.call("control", { type: "SIGNAL", execution_id, signal })
      expect(await refusal(asked)).toMatchObject({ reason: "INVALID_PARAMS" })
    }
    const pointless = client.call("control", { type: "PAUSE", execution_id, signal: "TERM" })
    expect(await refusal(pointless)).toMatchObject({ reason: "INVALID_PARAMS" })
    const nobody = client.call("control", {
      type: "SIGNAL",
      execution_id: "b".repeat(26),
      signal: "TERM",
    })
    expect(await refusal(nobody)).toMatchObject({ reason: "PROCESS_NOT_FOUND" })

    expect((await run.status()).state).toBe("running")
    await run.execution.cancel()
    await run.ended()
    expect(await refusal(run.execution.signal("TERM"))).toMatchObject({
      reason: "WRONG_STATE",
      details: { state: "ended" },
    })
  })
})
