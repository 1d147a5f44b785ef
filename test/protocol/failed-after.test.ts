import { describe, expect, test } from "bun:test"
import { fail, ok } from "../../src/lib/result.ts"
import { afterDeed, internalFailure } from "../../src/protocol/failed-after.ts"
import { failure } from "../../src/protocol/failure.ts"

const deed = { executionId: "k3tq7mzxw5yhd2vbn4c6fsaelu", done: "started" }
const details = { execution_id: deed.executionId, done: "started" }

describe("what follows a deed", () => {
  test("is answered as it is when it succeeds", async () => {
    expect(await afterDeed(deed, async () => ok(7))).toEqual(ok(7))
  })

  test("says what was done, and to what, when it fails", async () => {
    const refused = failure("UNAUTHORIZED", "The token was revoked.", { hint: 1 })

    const told = await afterDeed(deed, async () => fail(refused))

    expect(told).toEqual(
      fail({
        reason: "UNAUTHORIZED",
        message: `Execution ${deed.executionId} was started, but then: The token was revoked.`,
        details: { hint: 1, ...details },
      }),
    )
  })

  test("says so also when it throws, without what was thrown", async () => {
    const thrown: unknown = await afterDeed(deed, () => Promise.reject(new Error("hush"))).catch(
      (error: unknown) => error,
    )

    const told = internalFailure("It failed.", thrown)

    expect(told).toMatchObject({ reason: "INTERNAL", details })
    expect(told.message).toContain(deed.executionId)
    expect(told.message).not.toContain("hush")
  })
})

test("an error that nothing was done before is told as nothing more", () => {
  expect(internalFailure("It failed.", new Error("hush"))).toEqual(
    failure("INTERNAL", "It failed."),
  )
})
