import { describe, expect, test } from "bun:test"
import * as fs from "node:fs"
import { join } from "node:path"
import type { LogDestination } from "../../src/log/destination.ts"
import { type LogFileOptions, openRotatingFile } from "../../src/log/rotating-file.ts"
import { logTo, parsed } from "./captured-log.ts"
import { canMount, scratchFolder } from "./scratch-folder.ts"

describe("a log file", () => {
  test("is rotated at its size: no line lost or split, as many files as asked for", async () => {
    using files = scratchFolder()
    const path = join(files.path, "made", "service.log")
    await using destination = opened({ path, maxBytes: 4096, keep: 3 })
    const log = logTo(destination)

    for (let number = 0; number < 500; number += 1) log.info({ number }, "a line")

    const names = ["service.log.3", "service.log.2", "service.log.1", "service.log"]
    expect(fs.readdirSync(join(files.path, "made")).toSorted()).toEqual(names.toSorted())
    const texts = names.map((name) => fs.readFileSync(join(files.path, "made", name), "utf8"))
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(4096)
    for (const text of texts.slice(0, 3)) expect(text.length).toBeGreaterThan(3900)
    const numbers = texts.flatMap(parsed).map((record) => record["number"])
    const first = 500 - numbers.length
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => first + index))
  })

  test("is continued by the next process, readable by its owner only", async () => {
    using files = scratchFolder()
    const path = join(files.path, "service.log")

    for (const event of ["one", "two"]) {
      await using destination = opened({ path, maxBytes: 4096, keep: 1 })
      logTo(destination).info({}, event)
    }

    expect(parsed(fs.readFileSync(path, "utf8"))).toMatchObject([{ msg: "one" }, { msg: "two" }])
    expect(fs.statSync(path).mode & 0o777).toBe(0o600)
  })

  test("that was truncated or removed by somebody else is written on", async () => {
    using files = scratchFolder()
    const path = join(files.path, "service.log")
    await using destination = opened({ path, maxBytes: 4096, keep: 1 })
    const log = logTo(destination)

    log.info({}, "one")
    fs.truncateSync(path)
    log.info({}, "two")
    expect(parsed(fs.readFileSync(path, "utf8"))).toMatchObject([{ msg: "two" }])

    fs.rmSync(path)
    log.info({}, "three")
    expect(parsed(fs.readFileSync(path, "utf8"))).toMatchObject([{ msg: "three" }])
  })

  test("that cannot be opened is a failure at the start", () => {
    const path = "/proc/no-such-folder/service.log"
    const failure = { path, errno: "ENOENT" }
    expect(openRotatingFile({ path, maxBytes: 4096, keep: 1 })).toEqual({ ok: false, failure })
  })

  const unmountable = !canMount()
  test.skipIf(unmountable)(
    "on a full disk: lines are lost whole, counted, told (needs root)",
    async () => {
      using files = scratchFolder()
      using _disk = files.mountTmpfs(16_384)
      const path = join(files.path, "service.log")
      await using destination = opened({ path, maxBytes: 1_048_576, keep: 1 })
      const log = logTo(destination)
      const filler = join(files.path, "filler")
      fs.writeFileSync(filler, Buffer.alloc(8192))

      for (let number = 0; number < 200; number += 1) log.info({ number }, "a line")
      fs.rmSync(filler)
      log.info({}, "room again")

      const records = parsed(fs.readFileSync(path, "utf8"))
      const fitted = records.length - 2
      expect(fitted).toBeGreaterThan(10)
      const notice = { msg: "log lines were lost", lostLines: 200 - fitted, reason: "ENOSPC" }
      expect(records.slice(fitted)).toMatchObject([notice, { msg: "room again" }])
    },
  )
})

function opened(options: LogFileOptions): LogDestination {
  const result = openRotatingFile(options)
  if (!result.ok) throw new Error(result.failure.errno)
  return result.value
}
