import { describe, expect } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { CallError } from "../../src/client/client-error.ts"
import type { Client } from "../../src/client/connect.ts"
import { LossNotice, SignedLossNotice } from "../../src/execution/placement.ts"
import { certificatesIn, isDeclaredBy } from "../../src/fleet/signed-statements.ts"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import { engineMissing } from "../support/engine.ts"
import { Fleet, type FleetOptions } from "../support/fleet.ts"
import { libraryClient } from "../support/followed-output.ts"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

/** Everything else follows from it: unreachable after 750 ms, a beat every 250 ms. */
const lostAfter = "3s"
const lostAfterMs = 3000

const start = (names: string[], options: FleetOptions = {}) =>
  Fleet.start(names, { ...options, flags: { "fleet-lost-after": lostAfter, ...options.flags } })

const onB = { on: { node: "b" } }

describe("a node that dies", () => {
  testUnless(
    engineMissing,
    "while it runs something: unreachable, then lost, for good",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const execution = await client.execute({ command: "echo begun; exec sleep 600", ...onB })
      await until("it has begun", async () => (await view(client, execution.id)).bytes.stdout > 0)

      killed(fleet, "b")

      await until("it is unreachable", async () => {
        const { state, placement } = await view(client, execution.id)
        return placement?.unreachable === true && state === "running"
      })
      const steering = client.call("control", { type: "CANCEL", execution_id: execution.id })
      expect(await refusalOf(steering)).toMatchObject({ reason: "FLEET_UNAVAILABLE" })
      const { ending, placement } = await lost(client, execution.id)
      expect(ending).toMatchObject({ outcome: "lost", exit_code: null })
      const notice = SignedLossNotice.parse(placement?.loss)
      const told = LossNotice.parse(JSON.parse(Buffer.from(notice.payload, "base64").toString()))
      expect(told).toMatchObject({ execution_id: execution.id, had_accepted: true })
      expect(["a", "c"]).toContain(told.declared_by)
      const authorities = certificatesIn(readFileSync(fleet.authority.ca, "utf8"))
      expect(isDeclaredBy(told.declared_by, notice, authorities)).toBe(true)
      const receipt = client.call("receipt", { execution_id: execution.id })
      expect(await refusalOf(receipt)).toMatchObject({ details: { loss_notice: notice } })

      // Its node comes back, and has ended what was left: that is evidence, and changes nothing.
      await fleet.again("b")
      await until("its node has told", async () => {
        return (await view(client, execution.id)).placement?.evidence !== undefined
      })
      expect((await view(client, execution.id)).ending?.outcome).toBe("lost")
      await using there = libraryClient(await fleet.service("b").url())
      expect((await view(there, execution.id)).ending?.outcome).toBe("lost")
    },
  )

  testUnless(
    engineMissing,
    "between taking something and starting it: it is not repeated",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const folder = mkdtempSync(join(tmpdir(), "cc-executor-fleet-"))
      const trace = join(folder, "started")
      process.kill(fleet.service("b").lockedBy, "SIGSTOP") // it takes, and cannot start
      const asked = { command: `echo x >> ${trace}`, idempotency_key: "one" }
      const starting = client.call("execute", { ...asked, ...onB })
      await until("b has taken it", async () => (await placedOn(fleet, "b")) > 0)

      killed(fleet, "b")

      const refused = await refusalOf(starting)
      expect(refused).toMatchObject({ reason: "OUTCOME_UNKNOWN", details: { node: "b" } })
      const again = client.call("execute", { ...asked, ...onB })
      expect((await refusalOf(again)).message).toContain("it may have started")
      expect(existsSync(trace)).toBe(false)
      rmSync(folder, { recursive: true })
    },
  )

  testUnless(
    engineMissing ?? onlyInFull,
    "with most others: nothing is declared by itself",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const execution = await client.execute({ command: "sleep 600", ...onB })

      killed(fleet, "b")
      killed(fleet, "c")

      await until("it is unreachable", async () => {
        return (await view(client, execution.id)).placement?.unreachable === true
      })
      await Bun.sleep(lostAfterMs * 2) // that nothing happens is what this is about
      expect((await view(client, execution.id)).state).toBe("running")
      const { lost: declared } = await client.call("node.forget", { node: "b" })
      expect(declared).toBe(1)
      expect((await view(client, execution.id)).ending?.outcome).toBe("lost")
      await fleet.again("b")
      await fleet.again("c")
    },
  )
})

describe("a node that was stopped for too long", () => {
  testUnless(
    engineMissing,
    "ends what was declared lost meanwhile, and starts nothing",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const execution = await client.execute({ command: "sleep 600", ...onB })
      await until("it runs", async () => (await view(client, execution.id)).pid !== null)
      const { pid } = await view(client, execution.id)

      const { lockedBy, gatewayPid } = fleet.service("b")
      for (const stopped of [lockedBy, gatewayPid]) process.kill(stopped, "SIGSTOP")
      await lost(client, execution.id)
      expect(isAlive(pid)).toBe(true)
      for (const stopped of [lockedBy, gatewayPid]) process.kill(stopped, "SIGCONT")

      await until("its process is ended", () => !isAlive(pid))
      await until("its late end is told", async () => {
        return (await view(client, execution.id)).placement?.evidence !== undefined
      })
      expect((await view(client, execution.id)).ending?.outcome).toBe("lost")
      await fleet.joined()
      const next = await client.execute({ command: "true", ...onB })
      expect((await next.ended).exit_code).toBe(0)
    },
  )
})

describe("an engine that is away", () => {
  testUnless(
    engineMissing ?? onlyInFull,
    "ends nothing: only starts are refused until it is back",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const execution = await client.execute({ command: "cat", stdin: "pipe", ...onB })

      await fleet.engine.stopServer(0)
      await until("starts are refused", async () => {
        const refused = await refusalOf(client.call("execute", { command: "true" }))
        return (
          refused.reason === "FLEET_UNAVAILABLE" && refused.details?.["retry_after"] !== undefined
        )
      })
      const ready = await fetch(await fleet.service("a").url("/readyz"))
      expect(await ready.text()).toContain("fleet-engine-unreachable")
      await Bun.sleep(lostAfterMs * 1.5) // long enough for everybody to be silent
      const { executions } = await client.call("list", {})
      expect(executions).toMatchObject([{ execution_id: execution.id, state: "running" }])
      await using second = libraryClient(await fleet.service("a").url())
      const input = { data: "to b\n", end: true }
      await second.call("input", { execution_id: execution.id, ...input })
      expect((await execution.ended).exit_code).toBe(0)

      fleet.engine.startServer(0)
      await fleet.joined()
      const next = await client.execute({ command: "true", ...onB })
      expect((await next.ended).exit_code).toBe(0)
      expect((await view(client, execution.id)).ending).toMatchObject({ exit_code: 0 })
    },
  )

  testUnless(
    engineMissing ?? onlyInFull,
    "and comes back older: what runs is made known to it again",
    async () => {
      await using fleet = await start(["a", "b", "c"])
      await using client = libraryClient(await fleet.service("a").url())
      const folder = mkdtempSync(join(tmpdir(), "cc-executor-fleet-"))
      const old = join(folder, "old")
      await fleet.engine.stopServer(0)
      fleet.engine.copyTo(old)
      fleet.engine.startServer(0)
      const asked = { command: "sleep 600", idempotency_key: "kept", ...onB }
      const { execution_id } = await onceTaken(client, asked)
      await until("its place is known", async () => (await placedOn(fleet, "b")) > 0)

      await fleet.engine.stopServer(0)
      fleet.engine.restoreFrom(old)
      fleet.engine.startServer(0)

      await until("it was noticed", () =>
        fleet.service("b").log.some((line) => line.includes("has lost what it had acknowledged")),
      )
      await fleet.joined()
      // Who asks again gets the same, though the engine has never heard of that key.
      await until("starts are taken again", async () => {
        const again = await onceTaken(client, asked)
        return again.execution_id === execution_id
      })
      killed(fleet, "b")
      expect((await lost(client, execution_id)).ending?.outcome).toBe("lost")
      await fleet.again("b")
      rmSync(folder, { recursive: true })
    },
  )
})

/** An engine that has just come back may not take anything yet. */
function onceTaken(client: Client, asked: ParamsOf<"execute">) {
  return until("the fleet takes it", async () => {
    const started = await client.call("execute", asked).catch((error: unknown) => error)
    if (!(started instanceof CallError))
      return z.object({ execution_id: z.string() }).parse(started)
    expect(started.failure.reason).toBe("FLEET_UNAVAILABLE")
    return null
  })
}

async function view(client: Client, execution_id: string) {
  return client.call("status", { execution_id })
}

function lost(client: Client, id: string) {
  return until("it is declared lost", async () => {
    const told = await view(client, id)
    return told.placement?.loss === undefined ? null : told
  })
}

async function refusalOf(asked: Promise<unknown>) {
  const error = await asked.then(
    () => null,
    (why: unknown) => why,
  )
  if (error instanceof CallError) return error.failure
  throw new Error(`it was not refused: ${String(error)}`)
}

/** As if the machine had lost its power, but for what the kernel lets live on. */
function killed(fleet: Fleet, name: string): void {
  const { lockedBy, gatewayPid } = fleet.service(name)
  process.kill(lockedBy, "SIGKILL")
  process.kill(gatewayPid, "SIGKILL")
}

async function placedOn(fleet: Fleet, name: string): Promise<number> {
  const entries = await fleet.placements()
  return entries.filter(({ node, state }) => node === name && state === "accepted").length
}

function isAlive(pid: number | null): boolean {
  if (pid === null) return false
  return (
    existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  )
}
