import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { keeperEnd } from "../../../src/cli/connect/running-keeper.ts"
import { readStat } from "../../../src/service/os/proc.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

describe("a service that has let go of its lock", () => {
  test("has ended when its process has, not before", async () => {
    using folder = temporaryFolder()
    const lock = join(folder.path, "lock")
    writeFileSync(lock, "")
    await using child = Bun.spawn(["sleep", "1000"])
    const { pid } = child
    const startTicks = readStat(pid)?.startTicks ?? 0
    const startedAt = new Date().toISOString()
    const keeper = { pid, startTicks, version: "1", startedAt, upgrades: true }

    const early = await keeperEnd(lock, keeper, 50)
    child.kill()

    expect(early).toBe(false)
    expect(await keeperEnd(lock, keeper, 50_000)).toBe(true)
  })
})
