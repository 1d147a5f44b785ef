import { describe, expect, test } from "bun:test"
import { chmodSync, chownSync, copyFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { methods } from "../../src/protocol/methods.ts"
import { readStat } from "../../src/service/os/proc.ts"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { containmentModes, executable, Service, type ServiceOptions } from "../support/service.ts"
import { SmallDisk } from "../support/small-disk.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { startStorm } from "./support/start-storm.ts"

const starts = byScale({ short: 150, full: 600, long: 3000 })
const everyLimit = [64, 128, 256, 1024]
const limits = byScale({ short: [64, 256], full: everyLimit, long: everyLimit })
const manyExecutions = { "max-executions": "1000", "max-queue": "0" }

describe("a storm of starts on too few file descriptors", () => {
  for (const limit of limits) {
    for (const containment of containmentModes) {
      test(`loses nothing that started, of ${limit}, ${containment}`, async () => {
        const flags = { ...manyExecutions, containment }
        const prefix = ["sh", "-c", `ulimit -n ${limit}; exec "$@"`, "sh"]

        await endure({ flags, prefix }, /file descriptors are in use/)
      }, 120_000)
    }
  }

  test("leaves the gateway what it needs to be started again", async () => {
    const prefix = ["sh", "-c", 'ulimit -n 96; exec "$@"', "sh"]
    await using service = await Service.start({ flags: manyExecutions, prefix })
    const url = await service.url()
    using before = await RawSession.open(url)
    const running: string[] = []
    await until("nothing more is started", async () => {
      const answer = await before.response(before.request("execute", { argv: ["sleep", "1000"] }))
      if ("error" in answer) return true
      running.push(methods.execute.result.parse(answer.result).execution_id)
      return false
    })

    const { gatewayPid } = service
    process.kill(gatewayPid, "SIGKILL")
    const after = await until("there is another one", () => RawSession.open(url).catch(() => null))

    const { executions } = await after.call("list", { state: "running" })
    expect(executions.map(({ execution_id }) => execution_id).toSorted()).toEqual(
      running.toSorted(),
    )
    const cancel = (execution_id: string) => after.call("control", { type: "CANCEL", execution_id })
    await Promise.all(running.map(cancel))
    await until("all of them have ended", async () => {
      const left = await after.call("list", { state: "ended" })
      return left.executions.length === running.length
    })
    expect((await after.run({ command: "echo on" })).stdout).toBe("on\n")
    after[Symbol.dispose]()
  }, 60_000)
})

describe("more connections than there are file descriptors", () => {
  test("wait, while who was there before is served, and cost no processor time", async () => {
    const prefix = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
    await using service = await Service.start({ prefix })
    const url = await service.url()
    const { gatewayPid } = service
    using before = await RawSession.open(url)
    const { port, hostname } = new URL(url)
    using idle = new DisposableStack()
    for (let count = 0; count < 200; count += 1) {
      const socket = connect(Number(port), hostname).on("error", () => undefined)
      idle.defer(() => socket.destroy())
    }
    await until("it has noticed", () => service.log.some((line) => line.includes("nobody new")))

    await until("it has come to rest", () => isAtRest(gatewayPid))
    const run = await before.run({ command: "echo on | cat" })
    idle.dispose()
    using after = await RawSession.open(url)

    expect(run.stdout).toBe("on\n")
    expect((await after.run({ command: "echo again" })).stdout).toBe("again\n")
    expect(service.gatewayPid).toBe(gatewayPid)
  }, 60_000)
})

const ticksPerSecond = 100

/** What it does while nothing happens: one that tries again without pause never rests. */
async function isAtRest(pid: number): Promise<boolean> {
  const before = cpuTicks(pid)
  await Bun.sleep(1000)
  return cpuTicks(pid) - before < ticksPerSecond / 4
}

function cpuTicks(pid: number): number {
  const stat = readStat(pid)
  return (stat?.userTicks ?? 0) + (stat?.systemTicks ?? 0)
}

describe("a storm of starts on too few processes", () => {
  testUnless(notRoot, "loses nothing that started, and says what is short", async () => {
    using folder = temporaryFolder()
    const uid = 47_113 // root is exempt from the limit
    chmodSync(folder.path, 0o755)
    const program = join(folder.path, "cc-executor")
    copyFileSync(executable, program)
    chmodSync(program, 0o755)
    using state = temporaryFolder()
    chownSync(state.path, uid, uid)
    const user = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"]
    const prefix = [...user, "prlimit", "--nproc=30:30", "--"]
    const flags = { ...manyExecutions, containment: "best-effort" }

    await endure(
      { executable: program, stateDir: state.path, cwd: "/", flags, prefix },
      /no more processes can be started/,
    )
  })
})

describe("a storm of starts on too few inodes", () => {
  testUnless(
    notRoot,
    "loses nothing that started, and says what is short",
    async () => {
      using disk = new SmallDisk("64m", 150)
      const flags = { ...manyExecutions, ballast: "64k" }

      await endure({ flags, stateDir: disk.path }, /inodes/, "DISK_FULL")
    },
    120_000,
  )
})

describe("a storm of starts in as little address space as the runtime starts with", () => {
  test("loses nothing that started", async () => {
    // Less, and Bun itself does not start. Memory for code and heaps is reserved by then, so that
    // a start takes none of it: none is refused.
    const prefix = ["sh", "-c", 'ulimit -v 2621440; exec "$@"', "sh"]
    await using service = await Service.start({ flags: manyExecutions, prefix })
    const { lockedBy, gatewayPid } = service

    const { started, refused, faults } = await startStorm(await service.url(), starts)

    expect({ started, faults, refused }).toEqual({ started: starts, faults: [], refused: [] })
    expect(service).toMatchObject({ lockedBy, gatewayPid })
  }, 120_000)

  test("is not begun in less, and nobody calls that a fault of the program", async () => {
    using state = temporaryFolder()
    const prefix = ["sh", "-c", 'ulimit -v 600000; exec "$@"', "sh"]
    const command = [...prefix, executable, "serve", "--port", "0", "--state-dir", state.path]
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" })

    const said = await child.stderr.text()

    expect(await child.exited).not.toBe(0)
    // Depending on where it runs out, Bun ends before any line of ours.
    expect(said).toMatch(/ulimit -v|Bun has crashed/)
    expect(said).not.toContain("bug in cc-executor")
  })
})

/** Starts more than there can be, and then one that there is room for. */
async function endure(
  options: ServiceOptions,
  shortage: RegExp,
  refusal = "AT_CAPACITY",
): Promise<void> {
  await using service = await Service.start(options)
  const url = await service.url()
  const { lockedBy, gatewayPid } = service

  const { started, refused, faults } = await startStorm(url, starts)

  expect(faults).toEqual([])
  expect(started + refused.length).toBe(starts)
  expect(started).toBeGreaterThan(0)
  expect(refused.length).toBeGreaterThan(0)
  const isTrue = ({ reason }: { reason: string }, message: string) =>
    reason === refusal && shortage.test(message)
  expect(refused.filter(({ data, message }) => !isTrue(data, message))).toEqual([])
  using session = await RawSession.open(url)
  // Of what ended, old transcripts may have to go first.
  const run = () => session.run({ command: "echo on | cat" }).catch(() => null)
  expect((await until("there is room again", run)).stdout).toBe("on\n")
  expect(service).toMatchObject({ lockedBy, gatewayPid })
}
