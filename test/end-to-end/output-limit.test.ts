import { expect, test } from "bun:test"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"

const flood = "trap '' TERM; while :; do echo 0123456789; echo to stderr >&2; done"

describeAContainment("an execution that writes more than it may", (containment) => {
  const shared = sharedService({ flags: { containment, grace: "200ms" } })

  test("is stopped, with its record up to the byte that was too much", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell(flood), limits: { output: 100_000 } })

    const completed = await run.ended()

    expect(completed).toMatchObject({
      status: "failed",
      outcome: "stopped",
      cause: "output-limit",
      exit_code: null,
      signal: "SIGKILL",
    })
    expect(run.bytes.length).toBe(100_001)
    const { spec, outcome, transcript } = await run.receipt()
    expect(spec.outputLimitBytes).toBe(100_000)
    expect(outcome).toMatchObject({ kind: "stopped", cause: "output-limit" })
    expect(transcript.stdout.bytes + transcript.stderr.bytes).toBe(100_001)
    expect(transcript.dropped.bytes).toBeGreaterThan(0)
    expect((await run.status()).limits).toMatchObject({ output: 100_000 })
    const verdict = await client.call("transcript.verify", { execution_id: run.id })
    expect(verdict).toMatchObject({ chain: "intact" })
    await expectNothingLeft(service, run.id)
  })

  test("is named so also when it was faster than its reader, and had exited before", async () => {
    const service = shared()
    await using client = await clientOf(service)
    for (let count = 0; count < 10; count += 1) {
      const run = await Steered.start(client, {
        argv: ["head", "-c", "30000", "/dev/zero"],
        limits: { output: 10_000 },
      })

      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "output-limit" })
      expect(run.bytes.length).toBe(10_001)
    }
  })

  test("is not stopped at exactly its limit, nor for what the budget forgets", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const exact = await Steered.start(client, {
      argv: ["head", "-c", "10000", "/dev/zero"],
      limits: { output: 10_000 },
    })
    const small = await Steered.start(client, {
      argv: ["head", "-c", "300000", "/dev/zero"],
      budget: { bytes: 65_536 },
      limits: { output: 300_000 },
    })

    expect(await exact.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
    expect(await small.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
    expect((await small.receipt()).transcript.dropped.bytes).toBeGreaterThan(0)
  })

  test("on a terminal is stopped too", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, {
      ...shell("while :; do echo 0123456789; done"),
      terminal: { cols: 80, rows: 24 },
      limits: { output: 50_000 },
    })

    expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "output-limit" })
    expect(run.bytes.length).toBe(50_001)
  })

  test("past the service's limit is stopped unasked, and may not ask for more", async () => {
    await using service = await Service.start({ flags: { containment, "max-output-bytes": "1k" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell("while :; do echo 0123456789; done"))
    const tooMuch = { argv: ["true"], limits: { output: 1025 } }

    expect(await run.ended()).toMatchObject({ cause: "output-limit" })
    expect(run.bytes.length).toBe(1025)
    expect(await refusal(client.call("execute", tooMuch))).toMatchObject({
      reason: "INVALID_PARAMS",
      details: { limit: "limits.output", most: 1024 },
    })
  })
})
