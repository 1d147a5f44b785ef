import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { allPids, commandLine } from "../../src/service/os/proc.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { byScale } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"
import { runUpgrade, upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

const everySignal = ["SIGINT", "SIGTERM", "SIGKILL"] as const
const interruptions = byScale<readonly NodeJS.Signals[]>({
  short: ["SIGINT"],
  full: everySignal,
  long: everySignal,
})

/** A program that never answers, with children in its session and out of it. */
function hangingProgram(folder: string): { path: string; running: () => number[] } {
  const path = join(folder, "program")
  // Found by their arguments: no two of these folders have the same name.
  const wait = `sh -c 'while sleep 1; do :; done' ${folder}`
  writeFileSync(path, `#!/bin/sh\n${wait} &\nsetsid ${wait} &\n${wait}\n`)
  chmodSync(path, 0o755)
  return { path, running: () => allPids().filter((pid) => commandLine(pid).endsWith(folder)) }
}

async function hanging(containment: ContainmentMode) {
  await using made = new AsyncDisposableStack()
  const folder = made.use(temporaryFolder())
  const service = made.use(await Service.start({ flags: { containment } }))
  const program = hangingProgram(folder.path)
  made.defer(async () => {
    await until("nobody is left at the end of the test", () => nobody(program.running))
  })
  const kept = made.move()
  return { service, ...program, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** The same, while `cc-executor upgrade` waits for its answer. */
async function asked(containment: ContainmentMode) {
  const all = await hanging(containment)
  const command = [executable, "upgrade", "--state-dir", all.service.stateDir, "--to", all.path]
  const asking = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" })
  await until("it is being asked", () => all.running().length === 3)
  return { ...all, asking }
}

describeAContainment("a program that does not say whether it could take over", (containment) => {
  test("is ended when its time is up, with all that it has started", async () => {
    await using all = await hanging(containment)

    const { exitCode, stderr } = await runUpgrade(all.service, all.path, "--timeout", "1s")

    expect(stderr).toContain("program did not answer within 1 s.")
    expect(exitCode).toBe(1)
    await until("nobody is left", () => nobody(all.running))
  })

  for (const signal of interruptions) {
    test(`is ended when who asked for the upgrade is, by ${signal}`, async () => {
      await using all = await asked(containment)

      all.asking.kill(signal)

      await until("nobody is left", () => nobody(all.running))
      const said = () => all.service.log.find((line) => line.includes("upgrade refused"))
      await until("it is said", () => said() !== undefined)
      expect(said()).toContain("`cc-executor upgrade` was interrupted.")
      expect(await upgraded(all.service)).toMatchObject({ phase: "done" })
    })
  }

  test("does not keep the service from ending, and is ended before", async () => {
    await using all = await asked(containment)

    all.service.kill("SIGTERM")

    expect(await all.service.exited).toBe(0)
    expect(all.running()).toEqual([])
  })

  test("is ended by the gateway when the keeper is killed", async () => {
    await using all = await asked(containment)
    const trees = join(all.service.stateDir, "trees.json")
    const isRemembered = () =>
      all.running().every((pid) => readFileSync(trees, "utf8").includes(`${pid}`))
    if (containment === "best-effort") await until("it is remembered", isRemembered)

    all.service.kill("SIGKILL")

    await until("nobody is left", () => nobody(all.running))
  })
})

function nobody(running: () => number[]): boolean {
  return running().length === 0
}
