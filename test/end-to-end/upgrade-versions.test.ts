import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { UpgradeCheck } from "../../src/protocol/handover.ts"
import { laterJournal } from "../support/faulty-version.ts"
import {
  type Built,
  buildChangedVersion,
  buildCommit,
  commitsThatChanged,
} from "../support/next-version.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { testUnless } from "../support/test-unless.ts"
import { runUpgrade } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

const built = new DisposableStack()
afterAll(() => built.dispose())

/** Newest first: since the first of them, handovers are in today's form. */
const [sinceThen = null] = commitsThatChanged(/handoverFormat = /)
const noHistory = sinceThen === null ? "needs the history of this repository" : null

const notNow = onlyInFull ?? noHistory

/** Upgrades, with executions under way, from one program to another and back again. */
async function thereAndBack(from: string, to: string): Promise<[string, string]> {
  await using service = await Service.start({ executable: from })
  await using client = await clientOf(service)
  const asking = shell("echo a; read go; echo b; exit 7")
  const piped = await Steered.start(client, { ...asking, stdin: "pipe" })
  const typed = await Steered.start(client, { ...asking, terminal: { cols: 80, rows: 24 } })
  for (const run of [piped, typed]) await run.untilLine(/^a\r?$/)

  const there = await runUpgrade(service, to)
  const back = await runUpgrade(service, from)

  for (const run of [piped, typed]) {
    await run.execution.write("\n")
    expect(await run.ended()).toMatchObject({ exit_code: 7 })
    expect(run.text).toMatch(/^a\s+b\s+$/)
  }
  expect(service.lockedBy).toBe(service.pid)
  return [there.stdout + there.stderr, back.stdout + back.stderr]
}

function answerOf(program: string): UpgradeCheck {
  const { stdout } = Bun.spawnSync([program, "__upgrade-check"])
  return UpgradeCheck.parse(JSON.parse(stdout.toString()))
}

describe("an upgrade between versions with different source", () => {
  testUnless(notNow, "goes from the oldest with this handover to today's, and back", async () => {
    const older = await build(buildCommit(sinceThen ?? ""))
    const [old, own] = [answerOf(older.path), answerOf(executable)]

    const [there, back] = await thereAndBack(older.path, executable)

    const run = "2 executions continue"
    expect(there).toContain(`was upgraded from ${old.version} to ${own.version}: ${run}`)
    // An older program can take over as long as it can read what the newer one has written.
    const isReadable = old.journal === own.journal && old.state === own.state
    expect(back).toContain(
      isReadable
        ? `was upgraded from ${own.version} to ${old.version}: ${run}`
        : "is older than the state directory",
    )
  })

  testUnless(notNow, "with another form of handover is refused, both ways", async () => {
    const older = await build(buildCommit(`${sinceThen}^`))

    const [there] = await thereAndBack(older.path, executable)
    const [back] = await thereAndBack(executable, older.path)

    const refusal = / cannot take over from .* handover.* Stop and start instead\./
    expect(there).toMatch(refusal)
    expect(back).toMatch(refusal)
  })

  testUnless(
    onlyInFull,
    "brings the journal up to date, and back again there is no way",
    async () => {
      const later = await build(buildChangedVersion(laterJournal))

      const [there, back] = await thereAndBack(executable, later.path)

      expect(there).toMatch(/was upgraded from .* to 9\.9\.9: 2 executions continue/)
      expect(back).toMatch(/ is older than the state directory, which was written by 9\.9\.9\./)
    },
  )
})

async function build(making: Promise<Built>): Promise<Built> {
  return built.use(await making)
}
