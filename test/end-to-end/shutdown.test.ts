import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Receipt } from "../../src/execution/receipt.ts"
import { readTreeMemory } from "../../src/service/os/trees/tree-memory.ts"
import { openJournalReader } from "../../src/service/storage/journal/journal-reader.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import { isStillThere, markedBy } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const forever = shell("echo ready; exec sleep 1000")

describeEachContainment("a service that is told to end while ten executions are there", (mode) => {
  test("stops all of them with a receipt each, within ten seconds, and exits with 0", async () => {
    const flags = { containment: mode, "max-executions": "9" }
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    const stubborn = await Steered.start(client, fixture("ignore-sigterm.sh"))
    const escaped = await Steered.start(client, fixture("busy-tree.sh"))
    const members = [
      await stubborn.untilProcess("leader"),
      await escaped.untilProcess("grandchild"),
    ]
    const plain = await Promise.all(Array.from({ length: 7 }, () => Steered.start(client, forever)))
    await Promise.all(plain.map((run) => run.untilLine(/^ready$/)))
    await plain[0]?.execution.pause()
    const queued = await Steered.start(client, forever)
    expect((await queued.status()).state).toBe("queued")
    const runs = [stubborn, escaped, ...plain, queued]
    const memory = readTreeMemory(service.stateDir)

    const startedMs = performance.now()
    service.kill("SIGTERM")
    const ready = await until("it is not ready any more", async () => {
      const response = await fetch(await service.url("/readyz"))
      return response.status === 503 && response
    })
    expect(await refusal(client.call("execute", forever))).toMatchObject({
      reason: "SHUTTING_DOWN",
    })
    const ends = await Promise.all(runs.map((run) => run.ended()))
    const exitCode = await service.exited
    const tookMs = performance.now() - startedMs

    expect(exitCode).toBe(0)
    expect(tookMs).toBeLessThan(10_000)
    expect(await ready.json()).toMatchObject({ ready: false })
    for (const end of ends) expect(end).toMatchObject({ outcome: "stopped", cause: "shutdown" })
    expect(ends[0]).toMatchObject({ signal: "SIGKILL", survivors: [] })
    for (const outcome of outcomesIn(service, runs)) {
      expect(outcome).toMatchObject({ kind: "stopped", cause: "shutdown" })
    }
    expect(members.filter(isStillThere)).toEqual([])
    for (const { id } of runs) expect(markedBy(id)).toEqual([])
    const base = memory?.cgroupBase ?? null
    expect(base === null || directoriesIn(base).length === 0).toBe(true)
  }, 60_000)
})

describe("a service that is told to end", () => {
  test("cuts every grace and linger short that is longer than its own", async () => {
    const flags = { grace: "1h", linger: "1h", "shutdown-grace": "1500ms" }
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    const stubborn = await Steered.start(client, fixture("ignore-sigterm.sh"))
    const draining = await Steered.start(client, fixture("hold-pipe.sh"))
    const members = [
      await stubborn.untilProcess("leader"),
      await draining.untilProcess("grandchild"),
    ]
    await until("it is draining", async () => (await draining.status()).state === "draining")

    const startedMs = performance.now()
    service.kill("SIGTERM")
    const exitCode = await service.exited

    expect(exitCode).toBe(0)
    expect(performance.now() - startedMs).toBeLessThan(20_000)
    expect(members.filter(isStillThere)).toEqual([])
    expect(outcomesIn(service, [stubborn, draining])).toMatchObject([
      { kind: "stopped", cause: "shutdown", exit: { signal: "SIGKILL" } },
      { kind: "exited", exitCode: 0 },
    ])
  })
})

describe("a service that is told to end twice", () => {
  test("waits for nobody any more", async () => {
    await using service = await Service.start({ flags: { grace: "1m", "shutdown-grace": "1h" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("ignore-sigterm.sh"))
    const leader = await run.untilProcess("leader")

    service.kill("SIGTERM")
    await until("it is stopping", async () => (await run.status()).state === "stopping")
    const secondMs = performance.now()
    const insisting = setInterval(() => service.kill("SIGTERM"), 100)
    const exitCode = await service.exited
    clearInterval(insisting)

    expect(exitCode).toBe(0)
    expect(performance.now() - secondMs).toBeLessThan(20_000)
    expect(isStillThere(leader)).toBe(false)
    expect(outcomesIn(service, [run])).toMatchObject([{ kind: "stopped", cause: "shutdown" }])
  }, 60_000)

  test("takes the signal of a terminal and its echo from npm for one wish", async () => {
    await using service = await Service.start({ flags: { grace: "2s" } })
    await using client = await clientOf(service)
    const slow =
      "trap 'sleep 1; echo saved; exit 0' INT TERM; echo ready; while :; do sleep 0.01; done"
    const run = await Steered.start(client, { argv: ["sh", "-c", `exec 2>/dev/null; ${slow}`] })
    await run.untilLine(/^ready$/)

    service.kill("SIGINT")
    service.kill("SIGTERM")
    await run.untilLine(/^saved$/)

    expect(await run.ended()).toMatchObject({ cause: "shutdown" })
    expect(await service.exited).toBe(0)
  }, 60_000)
})

describe("a service with nothing to do", () => {
  test("ends at once, and leaves neither socket nor lock behind", async () => {
    await using service = await Service.start()

    const startedMs = performance.now()
    service.kill("SIGINT")

    expect(await service.exited).toBe(0)
    expect(performance.now() - startedMs).toBeLessThan(20_000)
    expect(readdirSync(service.stateDir)).not.toContain("gateway.sock")
    await using next = await Service.start({ stateDir: service.stateDir })
    expect(next.said.join("\n")).toContain("listening")
  })
})

/** What the receipts in the journal of a service that has ended say. */
function outcomesIn(service: Service, runs: Steered[]) {
  const opened = openJournalReader(join(service.stateDir, "journal.sqlite"))
  if (!opened.ok) throw new Error(opened.failure.message)
  using journal = opened.value
  return runs.map(({ id }) => {
    const signed = journal.receipt(id)
    if (signed === null) throw new Error(`${id} has no receipt`)
    const payload = Buffer.from(signed.payload, "base64").toString()
    return Receipt.parse(JSON.parse(payload)).outcome
  })
}

function directoriesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return [] // not even the directory itself is left
  }
}
