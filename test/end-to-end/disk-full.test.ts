import { describe, expect } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Receipt } from "../../src/execution/receipt.ts"
import { methods } from "../../src/protocol/methods.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { SmallDisk } from "../support/small-disk.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const flags = { "disk-floor": "0", ballast: "256k" }

describe("a flood on a small disk", () => {
  testUnless(notRoot, "is stopped with the reason, and what was dropped is told", async () => {
    using disk = new SmallDisk("8m")
    await using service = await Service.start({ stateDir: disk.path, flags })
    using session = await RawSession.open(await service.url())

    const { id, completed } = await flood(session)

    expect(completed).toMatchObject({
      status: "failed",
      outcome: "stopped",
      cause: "disk-full",
      survivors: [],
    })
    expect(completed.dropped.bytes).toBeGreaterThan(0)
    const { payload } = await session.call("receipt", { execution_id: id })
    const receipt = Receipt.parse(JSON.parse(Buffer.from(payload, "base64").toString()))
    expect(receipt.outcome).toMatchObject({ kind: "stopped", cause: "disk-full" })
    expect(receipt.transcript.dropped).toEqual(completed.dropped)
    const verdict = await session.call("transcript.verify", { execution_id: id })
    expect(verdict).toEqual({ verified: true, chain: "intact" })
    const kept = await session.call("transcript.read", { execution_id: id, from: "tail:1" })
    expect(kept.chunks.map(({ data }) => data).join("")).toMatch(/^y?\n?$/)
  })

  testUnless(notRoot, "leaves a service that works again once it is removed", async () => {
    using disk = new SmallDisk("8m")
    await using service = await Service.start({ stateDir: disk.path, flags })
    using session = await RawSession.open(await service.url())
    const { id } = await flood(session)
    exhaust(disk)
    const { executions } = await session.call("list", {})

    const error = await session.refused("execute", { command: "echo no", idempotency_key: "k" })
    expect(error).toMatchObject({ code: -32012, data: { reason: "DISK_FULL" } })
    expect((await session.call("list", {})).executions).toHaveLength(executions.length)

    await session.call("remove", { execution_id: id })
    expect(disk.freeBytes).toBeGreaterThan(1_000_000)
    const run = await session.run({ command: "echo again", idempotency_key: "k" })
    expect(run.stdout).toBe("again\n")
  })

  testUnless(
    notRoot,
    "ends what else writes there too, told as soon as it is journaled",
    async () => {
      using disk = new SmallDisk("8m")
      await using service = await Service.start({ stateDir: disk.path, flags })
      using session = await RawSession.open(await service.url())
      const { execution_id } = await session.call("execute", { argv: ["cat"], stdin: "pipe" })
      const floods = await floodTogether(session, 2)
      await until("its end waits for room", () => {
        exhaust(disk)
        session.request("input", { execution_id, data: "on a full disk\n" })
        return service.log.some((line) => line.includes("waiting to journal an end"))
      })
      expect(session.allHeard("process.completed", execution_id)).toEqual([])

      disk.empty()
      const { cause, dropped } = await session.heard("process.completed", execution_id)

      expect(cause).toBe("disk-full")
      expect(dropped.bytes).toBe(15 * dropped.lines)
      expect(floods.map(({ completed }) => completed.cause)).toEqual(["disk-full", "disk-full"])
      for (const id of [execution_id, ...floods.map((one) => one.id)]) {
        await session.call("receipt", { execution_id: id })
      }
    },
  )
})

describe("a disk with space but without inodes", () => {
  testUnless(notRoot, "costs no execution that runs, and starts are refused for it", async () => {
    using disk = new SmallDisk("64m", 200)
    const quiet = { ...flags, "retain-age": "1d" }
    await using service = await Service.start({ stateDir: disk.path, flags: quiet })
    using session = await RawSession.open(await service.url())
    const { execution_id } = await session.call("execute", { argv: ["cat"], stdin: "pipe" })
    disk.fillInodes(6)

    const error = await session.refused("execute", { command: "echo no" })
    expect(error).toMatchObject({ data: { reason: "DISK_FULL" } })
    expect(error.message).toContain("inodes")
    await session.call("input", { execution_id, data: "written without any room\n", end: true })
    const completed = await session.heard("process.completed", execution_id)

    expect(completed).toMatchObject({ outcome: "exited", exit_code: 0, dropped: { bytes: 0 } })
    await session.call("receipt", { execution_id })
    disk.emptyInodes()
    expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
  })

  testUnless(notRoot, "gets some back from what has ended, and goes on", async () => {
    using disk = new SmallDisk("64m", 120)
    await using service = await Service.start({ stateDir: disk.path, flags })
    using session = await RawSession.open(await service.url())

    for (let number = 0; number < 60; number += 1) {
      const request = session.request("execute", { argv: ["echo", `run ${number}`] })
      const answer = await session.response(request)
      // It says when to come back; by then old transcripts are gone.
      if ("error" in answer) {
        expect(answer.error).toMatchObject({ data: { reason: "DISK_FULL", retry_after: 1 } })
        await until("there is room again", () => disk.freeInodes > 20)
        continue
      }
      const { execution_id: id } = methods.execute.result.parse(answer.result)
      expect(await session.heard("process.completed", id)).toMatchObject({ exit_code: 0 })
    }

    expect(service.log.join("\n")).toContain("retention removed")
    await until("there is room for one more", () => disk.freeInodes > 20)
    expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
  })
})

describe("a service that is started on a full disk", () => {
  testUnless(notRoot, "has its journal, tells how what ran was lost, and goes on", async () => {
    using disk = new SmallDisk("8m")
    const crashed = await Service.start({ stateDir: disk.path, flags })
    using before = await RawSession.open(await crashed.url())
    const { id: ended } = await before.run({ command: "echo ended" })
    const running = await before.call("execute", { argv: ["cat"], stdin: "pipe" })
    const gateway = crashed.gatewayPid
    disk.fill()
    crashed.kill("SIGKILL")
    await crashed.exited
    await until("its gateway is gone too", () => !existsSync(`/proc/${gateway}`))
    disk.fill()

    await using service = await Service.start({ stateDir: disk.path, flags })
    using session = await RawSession.open(await service.url())

    const lost = await session.call("status", { execution_id: running.execution_id })
    expect(lost.ending).toMatchObject({ outcome: "lost" })
    await session.call("receipt", { execution_id: running.execution_id })
    const read = await session.call("transcript.read", { execution_id: ended })
    expect(read.chunks.map(({ data }) => data)).toEqual(["ended\n"])
    disk.empty()
    expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
    expect(existsSync(join(disk.path, "transcripts", ended))).toBe(true)
  })

  testUnless(notRoot, "makes room by forgetting what is past its time", async () => {
    using disk = new SmallDisk("8m")
    const first = await Service.start({ stateDir: disk.path, flags })
    using before = await RawSession.open(await first.url())
    const { id } = await flood(before)
    await first[Symbol.asyncDispose]()
    disk.fill()

    const settings = { ...flags, "retain-age": "0s" }
    await using service = await Service.start({ stateDir: disk.path, flags: settings })
    using session = await RawSession.open(await service.url())

    expect(disk.freeBytes).toBeGreaterThan(1_000_000)
    await session.call("receipt", { execution_id: id })
    expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
  })
})

describe("a service that is ended on a full disk", () => {
  testUnless(notRoot, "ends in its time, and says that it could not record all", async () => {
    using disk = new SmallDisk("8m")
    const settings = { ...flags, ballast: "64k", "shutdown-grace": "1s" }
    await using service = await Service.start({ stateDir: disk.path, flags: settings })
    using session = await RawSession.open(await service.url())
    const { execution_id } = await session.call("execute", { argv: ["cat"], stdin: "pipe" })
    await flood(session)
    exhaust(disk)

    service.kill("SIGTERM")

    expect(await service.exited).toBe(1)
    await until("it says so", () => service.log.some((line) => line.includes("not journaled")))
    expect(session.allHeard("process.completed", execution_id)).toEqual([])
    disk.empty()
    await using next = await Service.start({ stateDir: disk.path, flags })
    using after = await RawSession.open(await next.url())
    expect((await after.call("status", { execution_id })).ending?.outcome).toBe("lost")
  })
})

/** Takes the reserve as well: from now on nothing can be journaled at all. */
function exhaust(disk: SmallDisk): void {
  rmSync(join(disk.path, "ballast"), { force: true })
  disk.fill()
}

/** Floods until the disk is full; its output is not looked at. */
async function flood(session: RawSession) {
  const { execution_id: id } = await session.call("execute", { argv: ["yes"], encoding: "binary" })
  return { id, completed: await session.heard("process.completed", id) }
}

/** Floods that begin once all of them are started: the first leaves no room for another. */
async function floodTogether(session: RawSession, count: number) {
  const argv = ["sh", "-c", "read -r _; exec yes"]
  const held = { argv, encoding: "binary", stdin: "pipe" } as const
  const started: string[] = []
  while (started.length < count) {
    started.push((await session.call("execute", held)).execution_id)
  }
  for (const execution_id of started) session.request("input", { execution_id, data: "begin\n" })
  return Promise.all(
    started.map(async (id) => ({ id, completed: await session.heard("process.completed", id) })),
  )
}
