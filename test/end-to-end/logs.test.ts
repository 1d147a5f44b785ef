import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000

const Line = z.looseObject({
  level: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]),
  time: z.iso.datetime(),
  process: z.enum(["keeper", "gateway"]),
  msg: z.string().min(1),
  executionId: z.string().optional(),
  requestId: z.string().optional(),
  sessionId: z.string().optional(),
})

describe("the log on standard output", () => {
  test("is one JSON object a line, with the execution it is about", async () => {
    const service = await Service.start()
    using session = await RawSession.open(await service.url())
    const { id } = await session.run({ command: "sh -c 'exit 3'" })
    const lines = parsed(await wholeLog(service))

    const ofExecution = lines.filter(({ executionId }) => executionId === id)
    expect(ofExecution.map(({ msg }) => msg)).toContain("execution ended")
    expect(ofExecution.at(-1)).toMatchObject({ outcome: { kind: "exited", exitCode: 3 } })
    expect(lines.map(({ msg }) => msg)).toContain("service ready")
    expect(lines.at(-1)?.msg).toBe("service ended")
  })

  test("says nothing of what was run, with what, and what it said", async () => {
    const service = await Service.start()
    using session = await RawSession.open(await service.url())
    const { stdout } = await session.run({
      argv: ["sh", "-c", "cat; echo $PRIVATE; echo in-argv", "in-argv"],
      env: { PRIVATE: "in-environment" },
      labels: { note: "in-label" },
    })
    await session.refused("execute", { argv: ["in-refused"] })
    const log = (await wholeLog(service)).join("\n")

    expect(stdout).toBe("in-environment\nin-argv\n")
    for (const secret of ["in-argv", "in-environment", "in-refused"]) {
      expect(log).not.toContain(secret)
    }
  })

  test("tells, at debug, of sessions and of requests by the id they came with", async () => {
    const service = await Service.start({ env: { LOG_LEVEL: "debug" } })
    using session = await RawSession.open(await service.url())
    const { session_id } = await session.heard("connected")
    const headers = { "x-request-id": "mine-42" }
    const response = await fetch(await service.url("/executions"), { headers })
    const lines = parsed(await wholeLog(service)).filter((line) => line.process === "gateway")

    expect(response.headers.get("x-request-id")).toBe("mine-42")
    expect(lines.find(({ requestId }) => requestId === "mine-42")).toMatchObject({
      method: "GET",
      path: "/executions",
      status: 200,
    })
    expect(lines.filter(({ sessionId }) => sessionId === session_id)).not.toEqual([])
  })
})

describe("a log file", () => {
  test(
    "is rotated at its size, keeps its number, and loses no line in between",
    async () => {
      using folder = temporaryFolder()
      const path = join(folder.path, "logs/service.log")
      await using logged = await Service.start({
        flags: { "log-file": path, "log-file-size": "4k", "log-files": "3" },
      })
      using session = await RawSession.open(await logged.url())

      const ids: string[] = []
      for (let count = 0; count < 40; count += 1) {
        ids.push((await session.run({ command: "true" })).id)
      }

      const names = ["service.log.3", "service.log.2", "service.log.1", "service.log"]
      const files = names.map((name) => join(path, "..", name))
      const isLastEnd = (line: string) =>
        line.includes(ids.at(-1) ?? "") && line.includes("execution ended")
      await until("the last end is logged", () =>
        readFileSync(path, "utf8").split("\n").some(isLastEnd),
      )
      expect(readdirSync(join(path, "..")).toSorted()).toEqual(names.toReversed())
      for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(4096)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const lines = parsed(files.flatMap((file) => readFileSync(file, "utf8").trim().split("\n")))
      const ended = lines.filter(({ msg }) => msg === "execution ended")
      expect(ended.length).toBeGreaterThan(5)
      expect(ended.map(({ executionId }) => executionId)).toEqual(ids.slice(-ended.length))
      expect(logged.log).toEqual([])
    },
    timeoutMs,
  )
})

describe("a log for people", () => {
  test("is text, when that is asked for", async () => {
    const service = await Service.start({ flags: { "log-format": "pretty" } })
    const log = await wholeLog(service)

    expect(log.join("\n")).toMatch(/INFO.*keeper: service ready/)
  })
})

/** Ends the service and waits for its last words. */
async function wholeLog(service: Service): Promise<readonly string[]> {
  await service[Symbol.asyncDispose]()
  await until("its last line", () => service.log.at(-1)?.includes("service ended"))
  return service.log
}

function parsed(lines: readonly string[]): z.infer<typeof Line>[] {
  return lines.map((line) => Line.parse(JSON.parse(line)))
}
