import { afterAll, beforeAll, describe, expect } from "bun:test"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { type Built, buildNextVersion, nextVersion } from "../support/next-version.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { eventually } from "./support/eventually.ts"
import { cgroupOf, cpuStat, hasService, programsOfUnit, unitFacts } from "./support/guest-facts.ts"
import { asUser, GuestService } from "./support/guest-service.ts"
import { readInstallGuide } from "./support/install-guide.ts"
import { Machine } from "./support/machine.ts"
import { noMachine } from "./support/switch.ts"

// One machine for all of it, since a boot takes a minute: these run in order, and the last ones
// are about what the first ones left on its disk.
const wholeMs = 1_800_000
const testMs = 1_200_000

const guide = readInstallGuide("test/machine/machine.test.ts")

let machine: Machine
let service: GuestService
let next: Built

beforeAll(async () => {
  if (noMachine !== null) return
  next = await buildNextVersion()
  machine = await Machine.make({
    "cc-executor-linux-x64": executable,
    packaging: join(root, "packaging"),
    "next/cc-executor": next.path,
  })
  await machine.powerOn()
  await machine.must("tar -xf /dev/vdb && systemctl is-system-running --wait")
  service = GuestService.ofMachine(machine)
}, wholeMs)

afterAll(async () => {
  await machine?.[Symbol.asyncDispose]()
  next?.[Symbol.dispose]()
}, 60_000)

function machineTest(behaviour: string, run: () => Promise<void>): void {
  testUnless(noMachine, behaviour, run, testMs)
}

describe("the unit for a machine, installed as docs/install.md says", () => {
  machineTest("is active, has its own cgroup and user, and answers", async () => {
    await machine.must(`set -e\n${guide.forMachine}`)

    expect(await unitFacts(machine, "ActiveState", "User", "ControlGroup")).toEqual({
      ActiveState: "active",
      User: "cc-executor",
      ControlGroup: "/system.slice/cc-executor.service",
    })
    expect(await service.must("cc-executor run -- echo hello")).toBe("hello\n")
  })

  machineTest("says what limits it holds", async () => {
    const { stdout } = await service.run("runuser -u cc-executor -- cc-executor doctor")

    expect(stdout).toMatch(/^ok +containment +cgroup/m)
    expect(stdout).toMatch(/^ok +limits +.*memory: by cgroup.*cpu: by cgroup.*pids: by cgroup/m)
  })
})

describe("a limit of an execution under systemd", () => {
  machineTest("of memory ends it as out of memory, and nothing else", async () => {
    const other = await service.start("read forever", "-i")
    const id = await service.start("tail /dev/zero", "--memory 64MiB")

    const { ending, limits_held_by } = await service.ended(id)
    const { spec, outcome } = await service.receipt(id)

    expect(ending).toMatchObject({ outcome: "stopped", cause: "out-of-memory" })
    expect(limits_held_by.memory).toBe("cgroup")
    expect(spec.limitsHeldBy.memoryBytes).toBe("cgroup")
    expect(outcome).toMatchObject({ kind: "stopped", cause: "out-of-memory" })
    expect((await service.inspect(other)).state).toBe("running")
    await service.must(`cc-executor cancel ${other}`)
  })

  machineTest("of processes holds a fork bomb, which is ended as a whole", async () => {
    const id = await service.start("bomb() { bomb | bomb & }; bomb; read forever", "-i --pids 40")
    const folder = await cgroupOf(machine, service, id)

    // The kernel counts what it refused.
    const refused = `grep --quiet "max [1-9]" ${folder}/pids.events`
    await eventually("it was refused a process", () => machine.succeeds(refused))
    const [most, now] = (await machine.must(`cat ${folder}/pids.{max,current}`)).split("\n")
    await service.must(`cc-executor cancel ${id}`)

    expect(most).toBe("40")
    expect(Number(now)).toBeLessThanOrEqual(40)
    const { limits_held_by, ending, survivors } = await service.ended(id)
    expect({ held: limits_held_by.pids, cause: ending?.cause, survivors }).toEqual({
      held: "cgroup",
      cause: "client",
      survivors: [],
    })
    expect(await machine.succeeds(`test -e ${folder}`)).toBe(false)
  })

  machineTest("of the processor slows it down to its share", async () => {
    const id = await service.start("while :; do :; done", "--cpus 0.2")
    const folder = await cgroupOf(machine, service, id)

    const stat = await eventually("it was slowed down twenty times", async () => {
      const found = cpuStat(await machine.must(`cat ${folder}/cpu.stat`))
      return found.nr_throttled >= 20 && found
    })

    // A period is 100 ms. The kernel hands time out in slices, one of which may be on its way.
    const share = stat.usage_usec / (stat.nr_periods * 100_000)
    expect(share).toBeLessThan(0.3)
    expect((await service.inspect(id)).limits_held_by.cpu).toBe("cgroup")
    await service.must(`cc-executor cancel ${id}`)
  })
})

describe("an upgrade in place under systemd", () => {
  machineTest("goes on with pid and output, and systemd does not notice", async () => {
    const id = await service.start('for ((i = 1; ; i++)); do echo "line $i"; sleep 0.1; done')
    const before = await unitFacts(machine, "MainPID")
    const { pid } = await service.until(id, "it writes", ({ lines }) => lines.stdout > 0)

    await machine.must("install -m 755 next/cc-executor /usr/local/bin/cc-executor")
    const upgrade = "runuser -u cc-executor -- cc-executor upgrade --timeout 3m"
    const said = await service.must(upgrade)
    await eventually("its new gateway answers", () => service.answers())
    const { stdout } = (await service.inspect(id)).lines
    await service.until(id, "it goes on", ({ lines }) => lines.stdout > stdout)

    expect(said).toContain(`to ${nextVersion}`)
    expect(await unitFacts(machine, "MainPID")).toEqual(before)
    expect(await unitFacts(machine, "ActiveState", "SubState", "NRestarts")).toEqual({
      ActiveState: "active",
      SubState: "running",
      NRestarts: "0",
    })
    expect(await service.must("cc-executor doctor || true")).toContain(`version ${nextVersion}`)
    expect((await service.inspect(id)).pid).toBe(pid)
    expect(await machine.must("journalctl -u cc-executor")).not.toContain("without a watchdog")
    await service.must(`cc-executor cancel ${id}`)
    const shown = await service.must(`cc-executor logs ${id}`)
    const expected = shown
      .split("\n")
      .slice(0, -1)
      .map((_, index) => `line ${index + 1}`)
    expect(shown.split("\n").slice(0, -1)).toEqual(expected)
  })
})

describe("a restart by systemd with executions running", () => {
  machineTest("ends each with the cause shutdown, leaves nothing, and answers again", async () => {
    // Three at a time, for a queue.
    const dropIn = "/etc/systemd/system/cc-executor.service.d/three.conf"
    const setting = "[Service]\\nEnvironment=CC_EXECUTOR_MAX_EXECUTIONS=3\\n"
    await machine.must(`install -D <(printf '${setting}') ${dropIn} && systemctl daemon-reload`)
    await machine.must("systemctl restart cc-executor")
    const ids = [
      await service.start("read forever", "-i"),
      await service.start("setsid sleep 1000 & wait"),
      await service.start("trap '' TERM; echo deaf; while :; do sleep 1; done"),
      await service.start("echo never"),
    ]
    const [, , deaf = ""] = ids
    await service.until(deaf, "it is deaf", ({ lines }) => lines.stdout === 1)

    await machine.must("systemctl restart cc-executor")

    for (const id of ids) {
      expect(await service.inspect(id)).toMatchObject({
        state: "ended",
        ending: { outcome: "stopped", cause: "shutdown" },
        survivors: [],
      })
      expect((await service.receipt(id)).outcome).toMatchObject({ cause: "shutdown" })
    }
    expect(await unitFacts(machine, "Result", "NRestarts")).toEqual({
      Result: "success",
      NRestarts: "0",
    })
    expect(await programsOfUnit(machine)).toEqual(["cc-executor", "cc-executor"])
    expect(await machine.succeeds("pgrep -x sleep")).toBe(false)
    expect(await service.must("cc-executor run -- echo again")).toBe("again\n")
  })
})

describe("the unit for a user, installed as docs/install.md says", () => {
  machineTest("ends when they log out", async () => {
    await machine.must("useradd --create-home --shell /bin/bash you")
    await machine.must("cp -r cc-executor-linux-x64 packaging ~you && chown -R you: ~you")
    const program = "install -D -m 755 cc-executor-linux-x64 ~/.local/bin/cc-executor"
    const settings = "~/.config/systemd/user/cc-executor.service.d/override.conf"
    await machine.must(
      asUser("you", `${program}\ninstall -D <(echo '${guide.withoutPort}') ${settings}`),
    )

    const isActive = "systemctl --user is-active cc-executor"
    const said = await machine.must(asUser("you", `set -e\n${guide.forUser}\n${isActive}`))

    expect(said).toEndWith("active\n")
    await eventually("it has ended", async () => !(await hasService(machine, "you")))
  })

  machineTest("goes on for those who linger, and holds limits", async () => {
    await machine.must("loginctl enable-linger you")

    await eventually("it runs", () => hasService(machine, "you"))
    const you = GuestService.ofUser(machine, "you")
    await eventually("it answers", () => you.answers())
    const id = await you.start("tail /dev/zero", "--memory 64MiB")
    const { ending, limits_held_by } = await you.ended(id)
    expect(limits_held_by.memory).toBe("cgroup")
    expect(ending).toMatchObject({ outcome: "stopped", cause: "out-of-memory" })
  })
})

describe("a machine whose power is cut in the middle of a flood", () => {
  let flood: string
  let paused: string
  let ended: string
  let begun: string
  let queued: string
  let syncedBytes: number
  const start = "cc-executor run -d --idempotency-key once -- echo never"

  machineTest("boots again, and the service answers", async () => {
    flood = await service.start("seq 1 1000000000")
    paused = await service.start("while :; do echo tick; sleep 0.1; done")
    ended = await service.start("read line; echo $line; exit 7", "-i")
    begun = await service.start("echo begun; read forever", "-i")
    queued = (await service.must(start)).trim()
    await service.until(paused, "it ticks", ({ lines }) => lines.stdout > 0)
    await service.must(`cc-executor pause ${paused}`)
    // Something else on a machine may bring everything onto the disk, at any moment of a flood.
    const { bytes } = await service.until(flood, "a flood", (view) => view.bytes.stdout > 4e6)
    syncedBytes = bytes.stdout
    await machine.must("sync")
    await service.until(flood, "more of it", (view) => view.bytes.stdout > syncedBytes + 4e6)
    await service.must(`cc-executor send ${ended} over`)
    expect((await service.run(`cc-executor wait ${ended}`)).exitCode).toBe(7)
    await service.until(begun, "the next one runs", ({ lines }) => lines.stdout === 1)

    await machine.cutPower()
    await machine.powerOn()

    await eventually("the service answers", () => service.answers())
  })

  machineTest("has a true end for every execution", async () => {
    expect(await service.inspect(ended)).toMatchObject({
      ending: { outcome: "exited", exit_code: 7 },
      bytes: { stdout: 5 },
    })
    for (const id of [flood, paused, begun]) {
      const { ending } = await service.inspect(id)
      expect(ending?.outcome).toBe("lost")
      expect(ending?.reason).toStartWith("the service ended without stopping it")
    }
    expect((await service.inspect(queued)).ending).toMatchObject({
      outcome: "lost",
      reason: "not started: the service ended while it was queued",
    })
    expect(await service.must("cc-executor ps")).not.toContain("running")
  })

  machineTest(
    "claims of no output more than there is, and loses none that was synced",
    async () => {
      for (const id of [flood, paused, ended, begun, queued]) {
        const { bytes, lines } = await service.inspect(id)
        const { transcript } = await service.receipt(id)
        const counted = await service.must(`cc-executor logs ${id} | wc --bytes --lines`)
        expect(counted.trim().split(/ +/).map(Number)).toEqual([lines.stdout, bytes.stdout])
        expect(transcript.stdout.bytes).toBe(bytes.stdout)
        expect(await service.must(`cc-executor verify ${id}`)).toEndWith("verified\n")
      }
      const { stdout } = (await service.inspect(flood)).bytes
      expect(stdout).toBeGreaterThanOrEqual(syncedBytes)
      console.log(`the flood: ${syncedBytes} bytes synced, ${stdout} found`)
      const expected = `<(seq 1 1000000000 | head --bytes=${stdout})`
      await service.must(`cmp ${expected} <(cc-executor logs ${flood})`)
      expect(await service.must(`cc-executor logs ${ended}`)).toBe("over\n")
    },
  )

  machineTest("knows which requests it has taken, and goes on", async () => {
    expect((await service.must(start)).trim()).toBe(queued)
    expect(await service.must("cc-executor run -- echo on")).toBe("on\n")
    expect(await service.must("cc-executor audit --verify")).toContain("intact")
    expect(await programsOfUnit(machine)).toEqual(["cc-executor", "cc-executor"])
  })

  machineTest("has the service of a user who lingers, before anybody logs in", async () => {
    await eventually("it runs", () => hasService(machine, "you"))
    expect(await machine.must("loginctl show-user you -p State --value")).toBe("lingering\n")
  })
})
