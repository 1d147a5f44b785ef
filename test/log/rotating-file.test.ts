import { describe, expect, test } from "bun:test"
import * as fs from "node:fs"
import { join } from "node:path"
import type { LogDestination } from "../../src/log/destination.ts"
import { type LogFileOptions, openRotatingFile } from "../../src/log/rotating-file.ts"
import { fixture } from "../support/independent-run.ts"
import { until } from "../support/until.ts"
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

  test("that logrotate renamed is begun anew by the next line", async () => {
    using files = scratchFolder()
    const path = join(files.path, "service.log")
    await using destination = opened({ path, maxBytes: 1_048_576, keep: 3 })
    const log = logTo(destination)

    log.info({}, "one")
    fs.renameSync(path, `${path}-20261117`)
    log.info({}, "two")
    fs.renameSync(path, `${path}-20261118`)
    fs.writeFileSync(path, "") // its option `create`
    log.info({}, "three")

    const messages = ["service.log-20261117", "service.log-20261118", "service.log"].map((name) =>
      parsed(fs.readFileSync(join(files.path, name), "utf8")).map(({ msg }) => msg),
    )
    expect(messages).toEqual([["one"], ["two"], ["three"]])
  })

  test("that is reached by a link is rotated where it is, and the link stays", async () => {
    using files = scratchFolder()
    const real = join(files.path, "disk")
    fs.mkdirSync(real)
    const link = join(files.path, "service.log")
    fs.writeFileSync(join(real, "real.log"), "")
    fs.symlinkSync(join(real, "real.log"), link)
    await using destination = opened({ path: link, maxBytes: 4096, keep: 2 })
    const log = logTo(destination)

    for (let number = 0; number < 100; number += 1) log.info({ number }, "a line")

    expect(fs.readdirSync(real).toSorted()).toEqual(["real.log", "real.log.1", "real.log.2"])
    expect(fs.readlinkSync(link)).toBe(join(real, "real.log"))
    expect(parsed(fs.readFileSync(link, "utf8")).at(-1)).toMatchObject({ number: 99 })
  })

  test("of which an interrupted rotation left a number free loses nothing by it", async () => {
    using files = scratchFolder()
    const path = join(files.path, "service.log")
    for (const name of ["", ".2", ".3"]) fs.writeFileSync(`${path}${name}`, `${name}\n`)
    fs.writeFileSync(path, "x".repeat(5000))
    await using destination = opened({ path, maxBytes: 4096, keep: 3 })

    logTo(destination).info({}, "one more")

    expect(fs.readFileSync(`${path}.1`, "utf8")).toStartWith("xxx")
    expect(fs.readFileSync(`${path}.2`, "utf8")).toBe(".2\n")
    expect(fs.readFileSync(`${path}.3`, "utf8")).toBe(".3\n")
  })

  test("whose writer is killed again and again, while it rotates, has no gap", async () => {
    using files = scratchFolder()
    const path = join(files.path, "service.log")
    let next = 0

    for (let kills = 0; kills < 12; kills += 1) {
      const oldest = inodeOf(`${path}.${kept}`)
      const writer = Bun.spawn(fixture("write-log-lines.ts", path, next), {
        stdio: ["ignore", "ignore", "inherit"],
      })
      // It rotates at every few lines: wherever it is killed, it is near a rotation.
      await until("it has rotated through all files", () => {
        const inode = inodeOf(`${path}.${kept}`)
        return inode !== null && inode !== oldest
      })
      writer.kill("SIGKILL")
      await writer.exited
      next = (numbersIn(path).at(-1) ?? -1) + 1
    }

    const numbers = numbersIn(path)
    expect(numbers.length).toBeGreaterThan(100)
    expect(numbers).toEqual(numbers.map((_, index) => next - numbers.length + index))
  }, 60_000)

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

const kept = 4

function numbersIn(path: string): number[] {
  const names = [...Array.from({ length: kept }, (_, at) => `${path}.${kept - at}`), path]
  const texts = names
    .filter((name) => fs.existsSync(name))
    .map((name) => fs.readFileSync(name, "utf8"))
  return texts.flatMap(parsed).map((record) => Number(record["number"]))
}

function inodeOf(path: string): number | null {
  return fs.statSync(path, { throwIfNoEntry: false })?.ino ?? null
}

function opened(options: LogFileOptions): LogDestination {
  const result = openRotatingFile(options)
  if (!result.ok) throw new Error(result.failure.errno)
  return result.value
}
