import { describe, expect, test } from "bun:test"
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findControllers } from "../support/controllers.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { markedBy } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { byScale } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const mebibyte = 1024 ** 2
const hasController = findControllers().has("memoryBytes") ? "cgroups hold memory here" : null
const rounds = byScale({ short: 6, full: 20, long: 20 })
const isRoot = process.getuid?.() === 0

describeAContainment("an execution with a memory limit and no controller", (containment) => {
  const unless = containment === "cgroup" ? hasController : null
  const limits = { memory: 512 * mebibyte }
  const shared = sharedService({ flags: { containment } })

  testUnless(unless, "has it in every process, those started at once too", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const script = "(sleep 1000)& (setsid sh -c 'sleep 1001 & sleep 1002')& echo ready; sleep 1003"
    for (let count = 0; count < rounds; count += 1) {
      const run = await Steered.start(client, { ...shell(script), limits })
      const members = await until("all are there", () => {
        const found = markedBy(run.id)
        return found.length === 6 ? found : null
      })

      const limited = members.map((pid) => readFileSync(`/proc/${pid}/limits`, "latin1"))
      await run.execution.cancel()

      for (const text of limited) expect(text).toMatch(/Max data size\s+536870912\s+536870912\s/)
    }
  })

  testUnless(unless, "is told how it is held, in view and receipt", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, { argv: ["true"], limits })
    await run.ended()

    const view = await run.status()
    const { spec } = await run.receipt()

    expect(view.limits).toMatchObject({ memory: limits.memory, cpu: null, pids: null })
    expect(view.limits_held_by).toEqual({ memory: "rlimit", cpu: null, pids: null })
    expect(spec.limitsHeldBy).toEqual({ memoryBytes: "rlimit", cpus: null, pids: null })
  })

  testUnless(unless, "ends by itself when it is refused memory: no kill is claimed", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell("tail /dev/zero"), limits })

    const completed = await run.ended()

    expect(completed).toMatchObject({ outcome: "exited", exit_code: 1, cause: null })
  })

  testUnless(unless, "runs this program, whose runtime reserves much", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const bun = { argv: [process.execPath, "-e", "console.log(6 * 7)"], limits }
    for (let count = 0; count < rounds / 2; count += 1) {
      const run = await Steered.start(client, bun)

      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect(run.text).toBe("42\n")
    }
  })
})

describe("limits that no rlimit can hold", () => {
  test("are refused: processor time, and the number of root's processes", async () => {
    await using service = await Service.start({ flags: { containment: "best-effort" } })
    await using client = await clientOf(service)
    const cannot = isRoot ? { cpu: 1, pids: 100 } : { cpu: 1 }

    for (const [limit, value] of Object.entries(cannot)) {
      const request = { argv: ["true"], limits: { [limit]: value } }
      const refused = { reason: "INVALID_PARAMS", details: { limit } }
      expect(await refusal(client.call("execute", request))).toMatchObject(refused)
    }
    expect((await client.call("list", {})).executions).toEqual([])
  })

  test("keep a service from starting that is configured with one", async () => {
    const flags = { containment: "best-effort", "limit-cpus": "1" }
    await using service = new Service({ flags })

    expect(await service.exited).toBe(1)
    expect(service.said.join("\n")).toContain("--limit-cpus cannot be enforced")
  })
})

describe("children that are not root", () => {
  testUnless(
    isRoot ? null : "only root can become another user",
    "are held to a number of processes",
    async () => {
      const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-nobody-"))
      const uid = 64_123 // whose processes are all this service's
      chownSync(stateDir, uid, uid)
      chmodSync(stateDir, 0o700)
      using _folder = { [Symbol.dispose]: () => rmSync(stateDir, { recursive: true }) }
      const prefix = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"]
      const flags = { containment: "best-effort" }
      await using service = await Service.start({ stateDir, prefix, flags, cwd: "/" })
      await using client = await clientOf(service)
      const script = "for i in 1 2 3 4 5 6; do sleep 60 & done; echo started"
      const few = await Steered.start(client, { ...shell(script), limits: { pids: 4 } })
      const enough = await Steered.start(client, {
        ...shell("sh -c 'echo in; :'"),
        limits: { pids: 500 },
      })

      expect(await enough.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect(enough.text).toBe("in\n")
      expect((await enough.receipt()).spec.limitsHeldBy.pids).toBe("rlimit")
      expect((await few.ended()).exit_code).not.toBe(0)
      expect(few.text).not.toContain("started")
    },
  )
})

describe("a core file", () => {
  test("is left by nobody who did not ask for one", async () => {
    await using service = await Service.start({ prefix: ["prlimit", "--core=unlimited"] })
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell("ulimit -Sc; ulimit -Hc"))
    await run.ended()

    expect(run.text).toBe("0\nunlimited\n")
  })
})

describe("doctor", () => {
  test("says which limits this machine can hold, and how", () => {
    const { stdout } = Bun.spawnSync([executable, "doctor", "--json"])
    const { findings } = JSON.parse(stdout.toString())

    const limits = findings.find((one: { name: string }) => one.name === "limits")
    expect(limits.text).toMatch(/^memory: by (rlimit|cgroup).*; cpu: .*; pids: .*; output: by/)
  })
})
