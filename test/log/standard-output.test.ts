import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { standardOutput } from "../../src/log/standard-output.ts"
import { logTo, parsed } from "./captured-log.ts"
import { scratchFolder } from "./scratch-folder.ts"

describe("standard output", () => {
  test("is known as a terminal where it is one", () => {
    using files = scratchFolder()
    expect(standardOutput(files.open("/dev/ptmx", "r+")).isTerminal).toBe(true)
    expect(standardOutput(files.open(join(files.path, "a"), "w")).isTerminal).toBe(false)
  })

  test("whose reader stalls holds nobody up; what does not fit the queue is told", async () => {
    using files = scratchFolder()
    const pipe = files.pipe()
    await using destination = standardOutput(pipe.writeEnd)
    const log = logTo(destination)
    const text = "x".repeat(1000)

    for (let number = 0; number < 10_000; number += 1) log.info({ number, text }, "a line")
    const drained = await pipe.readUntil((seen) => seen.includes('"number":3000'))
    log.info({}, "last")
    const records = parsed(drained + (await pipe.readUntil((seen) => seen.includes('"last"'))))

    const notices = records.filter((record) => record["msg"] === "log lines were lost")
    const lost = notices.reduce((sum, notice) => sum + Number(notice["lostLines"]), 0)
    expect(records.length - notices.length + lost).toBe(10_001)
    expect(records.at(-1)).toMatchObject({ msg: "last" })
  })

  test("whose reader is gone costs lines, not the process", async () => {
    using files = scratchFolder()
    const pipe = files.pipe()
    await using destination = standardOutput(pipe.writeEnd)
    const log = logTo(destination)

    pipe.closeReadEnd()
    log.info({}, "into the void")
    await log.flush()
    pipe.reopenReadEnd()
    log.info({}, "heard")

    const records = parsed(await pipe.readUntil((seen) => seen.includes('"heard"')))
    const notice = { msg: "log lines were lost", lostLines: 1, reason: "EPIPE" }
    expect(records).toMatchObject([notice, { msg: "heard" }])
  })

  test("is complete when the process that logs ends", async () => {
    const program = `
      import { createLogger } from "${join(import.meta.dir, "../../src/log/log.ts")}"
      import { standardOutput } from "${join(import.meta.dir, "../../src/log/standard-output.ts")}"
      await using destination = standardOutput()
      const log = createLogger({ process: "keeper", level: "info", destination })
      for (let number = 0; number < 5000; number += 1) log.info({ number }, "a line")`
    const run = Bun.spawn([process.execPath, "-e", program], { stderr: "inherit" })

    const records = parsed(await run.stdout.text())

    expect(records).toHaveLength(5000)
    expect(await run.exited).toBe(0)
  })
})
