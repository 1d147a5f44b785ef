import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createLogSync } from "../../../../src/service/storage/journal/log-sync.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"

// That it brings anything onto a disk is what test/machine/ shows, by a loss of power.

test("those who ask before a sync has begun share it, later ones have their own", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "journal.sqlite")
  writeFileSync(`${path}-wal`, "some log")
  const sync = createLogSync(path)

  const first = sync()
  const meanwhile = sync()
  await first
  const later = sync()

  expect(meanwhile).toBe(first)
  expect(later).not.toBe(first)
  await later
})

test("a log that is gone, all of it in the journal by then, needs none", async () => {
  using folder = temporaryFolder()

  await createLogSync(join(folder.path, "journal.sqlite"))()
})

test("what keeps it from the log is told", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "journal.sqlite")
  const { exitCode } = Bun.spawnSync(["mkdir", `${path}-wal`])

  expect(exitCode).toBe(0)
  expect(createLogSync(path)()).rejects.toThrow("journal.sqlite-wal")
})
