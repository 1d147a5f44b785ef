import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { auditText } from "../support/audit-lines.ts"
import { describeAContainment } from "../support/each-containment.ts"
import {
  buildFaultyVersion,
  everyFault,
  type FaultKind,
  type FaultPoint,
  type FaultyVersion,
} from "../support/faulty-version.ts"
import { expectAllTold, startFlood } from "../support/followed-flood.ts"
import { zombiesOf } from "../support/real-processes.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"
import { runUpgrade, upgraded } from "../support/upgraded.ts"

setDefaultTimeout(180_000)

let faulty: FaultyVersion
beforeAll(async () => {
  faulty = await buildFaultyVersion()
})
afterAll(() => faulty?.[Symbol.dispose]())

/** What is said of each: the new program did not take over, because… */
const reasons: Record<FaultKind, RegExp> = {
  exit: /: It ended at once, with exit code 9\.$/m,
  crash: /: It was ended by SIG[A-Z]+\.$/m, // Bun catches SIGSEGV, and ends itself by another
  abort: /: It was ended by SIGABRT\.$/m,
  busy: /: It was not ready within 8 s\.$/m,
  sleep: /: It was not ready within 8 s\.$/m,
  stop: /: It was not ready within 8 s\.$/m,
  thread: /: It was ended by SIGABRT\.$/m,
  children: /: It ended at once, with exit code 9\.$/m,
  throw: /: (?:Error: broken on purpose|It ended at once, with exit code 70\.)$/m,
  idle: /: It was not ready within 8 s\.$/m,
}

const hangs: ReadonlySet<FaultKind> = new Set(["busy", "sleep", "stop", "idle"])

type Fault = { point: FaultPoint; kind: FaultKind }

/** In one service, one after another: none may leave anything that the next one stumbles over. */
const someFaults: Fault[] = [
  { point: "received", kind: "thread" },
  { point: "read", kind: "children" },
  { point: "opened", kind: "sleep" },
  { point: "gateway", kind: "abort" },
  { point: "commit", kind: "throw" },
]

describeAContainment("a new program that fails before it has taken over", (containment) => {
  const few = [someFaults]
  for (const tried of byScale({ short: few, full: everyFault, long: everyFault })) {
    const where = tried.map(({ point, kind }) => `${kind} at ${point}`).join(", ")
    test(`is put away: all goes on as before, and it is said why (${where})`, async () => {
      await expectPutAway(containment, tried)
    })
  }
})

async function expectPutAway(containment: ContainmentMode, tried: readonly Fault[]): Promise<void> {
  await using service = await Service.start({ flags: { containment } })
  await using client = await clientOf(service)
  await using flood = await startFlood(service)
  const asking = shell("echo a; read go; echo b; exit 7")
  const piped = await Steered.start(client, { ...asking, stdin: "pipe" })
  const typed = await Steered.start(client, { ...asking, terminal: { cols: 80, rows: 24 } })
  await piped.untilLine(/^a$/)
  await typed.untilLine(/^a\r?$/)

  for (const { point, kind } of tried) {
    faulty.failAt(point, kind)
    const endsMeanwhile = await Steered.start(
      client,
      shell(`while [ ! -e '${faulty.failed}' ]; do sleep 0.02; done; echo c; exit 5`),
    )
    const limit = hangs.has(kind) ? "8s" : "60s" // enough to come to where it fails
    const { exitCode, stderr } = await runUpgrade(service, faulty.path, "--timeout", limit)

    expect(`${point} ${kind}: ${stderr}`).toMatch(reasons[kind])
    expect(exitCode).toBe(1)
    expect(existsSync(faulty.failed)).toBe(true)
    await flood.untilAllHaveMore()
    expect(service.lockedBy).toBe(service.pid)
    expect(await endsMeanwhile.ended()).toMatchObject({ exit_code: 5 })
    expect(endsMeanwhile.text).toBe("c\n")
  }

  expect((await piped.status()).state).toBe("running")
  await until("nothing that it started is left", () => faulty.started().length === 0)
  await until("its zombies are taken away", () => zombiesOf(service.pid).length === 0)
  const failures = service.log.filter((line) => line.includes("the old program continues"))
  expect(failures).toHaveLength(tried.length)
  const noted = auditText(service.stateDir).match(/"upgrade_failed"/g)
  expect(noted).toHaveLength(tried.length)
  await upgraded(service)
  await piped.execution.write("\n")
  await typed.execution.write("\n")
  await flood.execution.write("\n")
  expect(await piped.ended()).toMatchObject({ exit_code: 7 })
  expect(await typed.ended()).toMatchObject({ exit_code: 7 })
  expect(piped.text).toBe("a\nb\n")
  await expectAllTold(flood)
}
