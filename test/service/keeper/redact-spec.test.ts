import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../../src/protocol/execute.ts"
import { Keeper } from "../../../src/service/keeper/keeper.ts"
import { redactSpec } from "../../../src/service/keeper/redact.ts"
import { compileRedaction } from "../../../src/service/redaction/redaction.ts"
import { ManualClock } from "../../support/manual-clock.ts"
import { sampleSpec } from "../../support/sample-record.ts"
import { keeperPorts, keeperSettings } from "../../support/scripted-keeper.ts"

function patterns(text: string) {
  const compiled = compileRedaction([{ name: null, text }])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  return compiled.value
}

describe("what is recorded of a request", () => {
  test("has no match of a pattern in any of its texts", () => {
    const spec = {
      ...sampleSpec,
      command: "login hunter2",
      argv: ["sh", "-c", "login hunter2"],
      cwd: "/tmp/hunter2",
      envNames: ["hunter2", "HOME"],
      labels: { hunter2: "a", b: "hunter2 hunter2" },
    }

    expect(redactSpec(spec, patterns("hunter2"))).toEqual({
      spec: {
        ...spec,
        command: "login [redacted]",
        argv: ["sh", "-c", "login [redacted]"],
        cwd: "/tmp/[redacted]",
        envNames: ["[redacted]", "HOME"],
        labels: { "[redacted]": "a", b: "[redacted] [redacted]" },
      },
      redacted: { stdout: 0, stderr: 0, spec: 6 }, // the command line and its argv are one
    })
  })

  test("is all of it where there are no patterns", () => {
    expect(redactSpec(sampleSpec, null)).toEqual({ spec: sampleSpec, redacted: null })
  })

  test("says why it could not start without a match either", async () => {
    const ports = keeperPorts(new ManualClock())
    const ends: string[] = []
    ports.redaction = patterns("nothing starts")
    ports.withReserve = () => false // so that the failed start is kept, and has an end
    ports.journalEnd = async (events) => void ends.push(JSON.stringify(events))
    const keeper = new Keeper(keeperSettings, ports)

    const started = keeper.start(
      { principal: "local", exempt: true },
      ExecuteParams.parse({ argv: ["any"] }),
    )
    await Promise.resolve()

    expect(started).toMatchObject({ ok: false, failure: { reason: "SPAWN_FAILED" } })
    expect(ends).toEqual([expect.stringContaining("Could not start: [redacted] here")])
  })
})

describe("a name", () => {
  test("is what is left of it, and whoever is refused is told no more", () => {
    const ports = { ...keeperPorts(new ManualClock()), redaction: patterns("secret-[0-9]") }
    const keeper = new Keeper({ ...keeperSettings, maxExecutions: 0, maxQueue: 2 }, ports)
    const named = (name: string) => ExecuteParams.parse({ argv: ["any"], labels: { name } })
    const local = { principal: "local", exempt: true }
    expect(keeper.start(local, named("of secret-1")).ok).toBe(true)

    const refused = keeper.start(local, named("of secret-2"))

    expect(refused).toMatchObject({ ok: false, failure: { reason: "NAME_IN_USE" } })
    expect(JSON.stringify(refused)).not.toContain("secret-")
  })
})
