import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ContainmentMode } from "../../../../src/execution/record.ts"
import { heldByNothing } from "../../../../src/execution/spec.ts"
import type { Launch } from "../../../../src/service/keeper/ports.ts"
import { spawnChild } from "../../../../src/service/os/children/spawner.ts"
import { Reaper } from "../../../../src/service/os/reaper.ts"
import {
  type Containment,
  chooseContainment,
  type Enclosure,
} from "../../../../src/service/os/trees/containment.ts"
import { Forest } from "../../../../src/service/os/trees/forest.ts"
import { describeEachContainment } from "../../../support/each-containment.ts"
import { newId } from "../../../support/planted.ts"
import { identify, isStillThere } from "../../../support/real-processes.ts"
import { until } from "../../../support/until.ts"

const folder = mkdtempSync(join(tmpdir(), "cc-executor-spawner-"))
const memoryBytes = 512 * 1024 ** 2
let reaper: Reaper
beforeAll(() => {
  reaper = new Reaper()
})
afterAll(() => {
  reaper[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

function contained(mode: ContainmentMode): Containment {
  const forest = new Forest(reaper.isOwnChild)
  const chosen = chooseContainment(mode, "test-spawner", forest, 0)
  if (!chosen.ok) throw new Error(chosen.failure)
  return chosen.value
}

/** The same containment, of which a test changes something. */
function changed(containment: Containment, change: (enclosure: Enclosure) => Partial<Enclosure>) {
  const enclose: Containment["enclose"] = (id, limits) => {
    const enclosure = containment.enclose(id, limits)
    return { ...enclosure, ...change(enclosure) }
  }
  return { ...containment, enclose }
}

/** A shell that rlimits hold to some memory. */
function limited(script: string): Launch {
  return {
    executionId: newId(),
    argv: ["/bin/sh", "-c", script],
    argv0: null,
    cwd: "/",
    cwdIsReal: true,
    env: { PATH: "/usr/bin:/bin" },
    stdin: "closed",
    terminal: null,
    limits: { memoryBytes, cpus: null, pids: null },
    limitsHeldBy: { ...heldByNothing, memoryBytes: "rlimit" },
    user: null,
  }
}

describeEachContainment("a child that runs but cannot be supervised", (mode) => {
  test("is ended with its whole tree, those in sessions of their own too", async () => {
    using containment = contained(mode)
    const file = join(folder, `far-${mode}`)
    const script = `setsid sh -c 'echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 1000'`
    const failing = changed(containment, (enclosure) => ({
      enter(leader) {
        while (!existsSync(file)) Bun.sleepSync(1)
        enclosure.enter(leader)
        throw new Error("the look failed")
      },
    }))

    const started = spawnChild(limited(`${script} & wait`), failing, reaper)
    const far = Number(readFileSync(file, "latin1"))

    expect(started).toMatchObject({
      ok: false,
      failure: { message: "/bin/sh: the look failed", hasRun: true },
    })
    await until("it is gone", () => !isThere(far))
  })
})

function isThere(pid: number): boolean {
  try {
    return isStillThere(identify(pid))
  } catch {
    return false // identify finds none
  }
}
