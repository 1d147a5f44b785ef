import { describe, expect, test } from "bun:test"
import { fail } from "../../../../src/lib/result.ts"
import { keeperBroke, settled } from "../../../support/scripted-link.ts"
import { StagedExecution } from "../../../support/staged-execution.ts"
import { connect } from "./connected-session.ts"

describe("a start", () => {
  test("when its session is cut off is answered before that is closed", async () => {
    using staged = new StagedExecution()
    const { connection, ask } = connect(staged.operations, 1)
    const id = ask("execute", { command: "sleep 1" })
    for (let count = 0; count < 20; count += 1) ask("list")
    await settled()
    const closedBefore = connection.closes.length

    await staged.link.callTo("start").answer({ record: staged.record, repeated: false })
    await settled()

    expect(closedBefore).toBe(0)
    expect(connection.answerTo(id)?.result).toMatchObject({ execution_id: staged.id })
    expect(connection.closes).toEqual([{ code: 1008, reason: "RATE_LIMITED" }])
  })

  test.each([
    ["fails", async () => fail(keeperBroke)],
    ["throws", () => Promise.reject(new Error("a bug"))],
  ])(
    "that was done, when what follows %s, is told with the execution's id",
    async (_, openStarted) => {
      using staged = new StagedExecution()
      const operations = { ...staged.operations, openStarted }
      const { connection, refusals, ask } = connect(operations)

      const id = ask("execute", { command: "sleep 1" })
      await settled()
      await staged.link.callTo("start").answer({ record: staged.record, repeated: false })

      const error = connection.answerTo(id)?.error
      const data = { reason: "INTERNAL", execution_id: staged.id, done: "started" }
      expect(error?.data).toEqual(data)
      expect(error?.["message"]).toContain(staged.id)
      expect(refusals.refusals.at(-1)).toMatchObject({ method: "execute", executionId: staged.id })
    },
  )
})
