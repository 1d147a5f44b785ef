import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import { Keeper } from "../../../../src/service/keeper/keeper.ts"
import type { Redaction } from "../../../../src/service/keeper/ports.ts"
import { compileRedaction } from "../../../../src/service/redaction/redaction.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { keeperPorts, keeperSettings } from "../../../support/scripted-keeper.ts"

const secret = "hunter2"
const key = `deploy with ${secret}`

function patterns() {
  const compiled = compileRedaction([{ name: "planted", text: secret }])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  return compiled.value
}

/** A keeper in which everything waits, or in which nothing can be started. */
function keeperWith(redaction: Redaction | null, store = new MemoryJournal(), waits = true) {
  const settings = { ...keeperSettings, maxExecutions: waits ? 0 : 1, maxQueue: 9 }
  const keeper = new Keeper(settings, { ...keeperPorts(new ManualClock()), redaction, store })
  const start = (argv: string[], idempotency_key: string) =>
    keeper.start(
      { principal: "local", exempt: true },
      ExecuteParams.parse({ argv, idempotency_key }),
    )
  return { store, start }
}

describe("an idempotency key in which a pattern matches", () => {
  test("is not kept as it is, and found all the same", () => {
    const { store, start } = keeperWith(patterns())
    const first = start(["any"], key)

    expect(start(["any"], key)).toMatchObject({ ok: true, value: { repeated: true } })

    expect(first).toMatchObject({ ok: true, value: { repeated: false } })
    expect(store.findByKey("local", key)).toBeNull()
    expect(start(["any"], `${key}!`)).toMatchObject({ ok: true, value: { repeated: false } })
  })

  test("is not told to whoever uses it for something else", () => {
    const { start } = keeperWith(patterns())
    start(["any"], key)

    const message =
      'The idempotency key "deploy with [redacted:planted]" was used for another request.'
    expect(start(["other"], key)).toMatchObject({ ok: false, failure: { message } })
  })

  test("is found when the patterns were others before", () => {
    const { store, start } = keeperWith(null)
    start(["any"], key)
    const later = keeperWith(patterns(), store)

    expect(later.start(["any"], key)).toMatchObject({ value: { repeated: true } })

    later.start(["any"], `${key}!`)
    const evenLater = keeperWith(null, store)
    expect(evenLater.start(["any"], `${key}!`)).toMatchObject({ value: { repeated: true } })
  })

  test("is forgotten when nothing could be started", () => {
    const { store, start } = keeperWith(patterns(), new MemoryJournal(), false)
    expect(start(["any"], key)).toMatchObject({ failure: { reason: "SPAWN_FAILED" } })

    const again = keeperWith(patterns(), store)

    expect(again.start(["any"], key)).toMatchObject({ ok: true, value: { repeated: false } })
  })
})

describe("any other idempotency key", () => {
  test("is kept as it is", () => {
    const { store, start } = keeperWith(patterns())
    start(["any"], "deploy")

    expect(store.findByKey("local", "deploy")).not.toBeNull()
  })
})
