import { describe, expect, test } from "bun:test"
import type { ContainmentMode } from "../../src/execution/record.ts"
import type { ExecutionView } from "../../src/protocol/execution-view.ts"
import { readTreeMemory } from "../../src/service/os/trees/tree-memory.ts"
import { verifyReceipt } from "../../src/service/storage/journal/receipt-signing.ts"
import {
  loadOrCreateSigningKey,
  publicKeyPem,
} from "../../src/service/storage/journal/signing-key.ts"
import { describeAContainment, describeEachContainment } from "../support/each-containment.ts"
import { fixture } from "../support/independent-run.ts"
import { identify, isStillThere, markedBy } from "../support/real-processes.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const rounds = byScale({ short: 2, full: 4, long: 4 })

describeEachContainment("a keeper that is killed with five executions", (containment) => {
  test("alone: the gateway ends the trees and itself; the next start tells of all", async () => {
    using folder = temporaryFolder()
    await using service = await startSmall(folder.path, containment)
    const { executions, processes } = await crowd(service, containment)
    const { gatewayPid } = service
    const killedAtMs = performance.now()

    process.kill(service.pid, "SIGKILL")
    await until("the gateway is gone", () => !isRunning(gatewayPid))
    const goneAfterMs = performance.now() - killedAtMs
    const left = processes.filter(isStillThere)

    console.log(`[${containment}] trees and gateway gone after ${goneAfterMs.toFixed(0)} ms`)
    expect(left).toEqual([])
    await expectAllLost(service.stateDir, containment, executions)
  }, 60_000)
})

describeAContainment("a keeper that is killed with five executions", (containment) => {
  test("together with its gateway: the next start ends the trees, and tells of all", async () => {
    using folder = temporaryFolder()
    await using service = await startSmall(folder.path, containment)
    const { executions, processes } = await crowd(service, containment)
    const { gatewayPid } = service

    process.kill(gatewayPid, "SIGSTOP")
    process.kill(service.pid, "SIGKILL")
    process.kill(gatewayPid, "SIGKILL")
    await service.exited
    const before = processes.filter(isStillThere)

    // Only the flood ends by itself, for want of a reader.
    expect(before.length).toBeGreaterThanOrEqual(processes.length - 1)
    await expectAllLost(service.stateDir, containment, executions)
    expect(processes.filter(isStillThere)).toEqual([])
  }, 60_000)

  test("while its gateway hangs: the next start ends that, too", async () => {
    using folder = temporaryFolder()
    await using service = await startSmall(folder.path, containment)
    const { executions, processes } = await crowd(service, containment)
    const gateway = identify(service.gatewayPid)

    process.kill(gateway.pid, "SIGSTOP")
    process.kill(service.pid, "SIGKILL")
    await service.exited

    await expectAllLost(service.stateDir, containment, executions)
    expect([gateway, ...processes].filter(isStillThere)).toEqual([])
  }, 60_000)
})

describe("a keeper that is killed while budgets forget their oldest output", () => {
  test("leaves transcripts that verify from there on, and cursors that still fit", async () => {
    using folder = temporaryFolder()
    await using service = await Service.start({ stateDir: folder.path })
    using client = await StreamClient.connect(await service.url())
    const budgets = [{ bytes: 100_000 }, { bytes: 2_000_000 }, { lines: 50 }, { lines: 10_000 }]
    const started = await Promise.all(
      budgets.map((budget) =>
        client.execute({ argv: ["seq", "1", "100000000"], budget, encoding: "base64" }),
      ),
    )
    await until("all have wrapped", async () => {
      const { executions } = await client.call("list", {})
      return executions.every(({ dropped }) => dropped.bytes > 2_000_000)
    })

    process.kill(service.pid, "SIGKILL")
    client.cut()
    await service.exited
    await using next = await Service.start({ stateDir: folder.path })
    using reader = await StreamClient.connect(await next.url())

    for (const { id: execution_id, output } of started) {
      const verdict = await reader.call("transcript.verify", { execution_id })
      const before = { bytes: output.bytes, lines: output.lines }
      const kept = await reader.attach({ execution_id, encoding: "base64" })
      const { bytes, lines, dropped } = await kept.completed
      const rest = new StreamClient(await next.url(), new Map([[execution_id, output]]))
      await rest.greeting
      await rest.attach({ execution_id, encoding: "base64" })
      await output.completed
      rest.cut()

      expect(verdict).toEqual({ verified: true, chain: `intact from ${dropped.bytes}` })
      expect(kept.gaps).toEqual({ ...dropped, count: 1 })
      expect(kept.lines + kept.gaps.lines).toBe(lines.stdout)
      expect(output.bytes + output.gaps.bytes).toBe(bytes.stdout)
      expect(output.lines + output.gaps.lines).toBe(lines.stdout)
      expect(before.bytes).toBeGreaterThan(0)
      expect([...kept.faults, ...output.faults]).toEqual([])
    }
  }, 60_000)
})

describe("a keeper that is killed again and again", () => {
  test("keeps every end it has told, and every byte before it", async () => {
    using folder = temporaryFolder()
    const stateDir = folder.path
    const told = new Map<string, { hash: string; exitCode: number | null }>()

    for (let round = 0; round < rounds; round += 1) {
      await using service = await Service.start({ stateDir })
      using client = await StreamClient.connect(await service.url())
      for (let number = 0; number < 5; number += 1) {
        const command = `seq 1 ${1000 * round + number}; exit ${number}`
        const { id, output } = await client.execute({ command })
        const { exit_code } = await output.completed
        told.set(id, { hash: output.hash("stdout"), exitCode: exit_code })
      }
      process.kill(service.pid, "SIGKILL")
      await service.exited
    }

    await using service = await Service.start({ stateDir })
    using client = await StreamClient.connect(await service.url())
    for (const [id, { hash, exitCode }] of told) {
      const output = await client.attach({ execution_id: id })
      const completed = await output.completed
      expect(output.hash("stdout")).toBe(hash)
      expect(completed).toMatchObject({ outcome: "exited", exit_code: exitCode })
    }
    expect(told.size).toBe(rounds * 5)
  }, 60_000)
})

type Crowd = {
  executions: Record<"quiet" | "flood" | "family" | "paused" | "queued", string>
  processes: ReturnType<typeof identify>[]
}

function startSmall(stateDir: string, containment: ContainmentMode): Promise<Service> {
  return Service.start({ stateDir, flags: { containment, "max-executions": "4" } })
}

/** Four executions, one of each kind, and a fifth that waits for a place. */
async function crowd(service: Service, containment: ContainmentMode): Promise<Crowd> {
  using client = await StreamClient.connect(await service.url())
  const quiet = await client.execute({ argv: ["sleep", "100000"] })
  const flood = await client.execute({ argv: fixture("count-until-told.ts"), stdin: "pipe" })
  const family = await client.execute({ argv: ["/bin/sh", "-c", familyScript] })
  const paused = await client.execute({ command: "echo $$; while :; do :; done", shell: true })
  const queued = await client.execute({ argv: ["echo", "never"] })
  await until("the flood flows", () => flood.output.bytes > 1_000_000)
  const pids = await until("the family is complete", () => {
    const told = family.output.tail("stdout").trim().split("\n").map(Number)
    return told.length === 4 && told
  })
  await until("the loop runs", () => paused.output.lines === 1)
  await client.call("control", { type: "PAUSE", execution_id: paused.id })
  // One of the family carries no marker: it is known because it was seen.
  const seen = () => readTreeMemory(service.stateDir)?.seen[family.id] ?? []
  if (containment === "best-effort") {
    await until("the family was seen", () =>
      pids.every((pid) => seen().some((one) => one.pid === pid)),
    )
  }
  const leaders = [quiet, flood, paused].flatMap(({ id }) => markedBy(id))
  return {
    executions: {
      quiet: quiet.id,
      flood: flood.id,
      family: family.id,
      paused: paused.id,
      queued: queued.id,
    },
    processes: [...leaders, ...pids].map(identify),
  }
}

// A leader, a child, a grandchild in its own session, and one that has emptied its environment.
const familyScript = [
  "echo $$",
  "sleep 100000 & echo $!",
  "(setsid sh -c 'echo $$; exec sleep 100000' &)",
  "(env -i setsid sh -c 'echo $$; exec sleep 100000' &)",
  "wait",
].join("\n")

async function expectAllLost(
  stateDir: string,
  containment: ContainmentMode,
  executions: Crowd["executions"],
): Promise<void> {
  await using service = await Service.start({ stateDir, flags: { containment } })
  using client = await StreamClient.connect(await service.url())
  const key = loadOrCreateSigningKey(stateDir)
  if (!key.ok) throw new Error(key.failure.message)

  for (const execution_id of Object.values(executions)) {
    const view = await client.call("status", { execution_id })
    const verdict = await client.call("transcript.verify", { execution_id })
    const receipt = await client.call("receipt", { execution_id })
    const output = await client.attach({ execution_id, encoding: "base64" })
    const completed = await output.completed

    expectLost(view, execution_id === executions.queued)
    expect(verdict).toMatchObject({ verified: true, chain: "intact" })
    expect(verifyReceipt(receipt, publicKeyPem(key.value), null)).toMatchObject({
      kind: "valid",
      receipt: { execution_id, outcome: { kind: "lost" }, survivors: [] },
    })
    expect(completed).toMatchObject({ status: "failed", outcome: "lost", exit_code: null })
    expect(output.hash("stdout")).toBe(completed.hashes?.stdout ?? emptyHash)
    expect(markedBy(execution_id)).toEqual([])
  }

  const { output } = await client.execute({ command: "echo alive" })
  await output.completed
  expect(output.tail("stdout")).toBe("alive\n")
}

const emptyHash = new Bun.CryptoHasher("sha256").update("").digest("hex")

function expectLost(view: ExecutionView, wasQueued: boolean): void {
  expect(view).toMatchObject({
    state: "ended",
    survivors: [],
    ending: { outcome: "lost", exit_code: null, signal: null, cause: null },
  })
  expect(view.ending?.reason).toMatch(wasQueued ? /not started/ : /without stopping it/)
}

describe("a gateway whose keeper is gone before it said a word", () => {
  test.each(fewIfShort(2, [0, 100, 20, 300]))("ends, %p ms after its start", async (delayMs) => {
    const gateway = Bun.spawn([executable, "__gateway"], {
      stdio: ["ignore", "ignore", "inherit"],
      serialization: "json",
      ipc: () => undefined,
    })
    await Bun.sleep(delayMs) // when the keeper dies is what the test is about

    gateway.disconnect()

    expect(await gateway.exited).toBe(0)
  })
})
