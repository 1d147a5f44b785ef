import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { RawSession } from "../support/raw-session.ts"
import { isRunning, Service, type ServiceOptions } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

describe("a state directory that cannot be used", () => {
  testUnless(notRoot, "because it is on a read-only disk is refused with what to do", async () => {
    using folder = temporaryFolder()
    const mount = `mount -t tmpfs -o ro none ${folder.path}`

    const { exitCode, said } = await failedStart({
      stateDir: folder.path,
      prefix: ["unshare", "--mount", "sh", "-c", `${mount} && exec "$0" "$@"`],
    })

    expect(exitCode).toBe(1)
    expect(said).toContain(folder.path)
    expect(said).toContain("read-only file system")
    expect(said).toContain("--state-dir")
  })

  testUnless(notRoot, "because its disk became read-only is refused, and stays whole", async () => {
    using folder = temporaryFolder()
    const stateDir = folder.path
    const id = await serveOnce({ stateDir })
    const mount = `mount --bind ${stateDir} ${stateDir} && mount -o remount,ro,bind ${stateDir}`

    const { exitCode, said } = await failedStart({
      stateDir,
      prefix: ["unshare", "--mount", "sh", "-c", `${mount} && exec "$0" "$@"`],
    })

    expect(exitCode).toBe(1)
    expect(said).toContain("--state-dir")
    await using again = await Service.start({ stateDir })
    using session = await RawSession.open(await again.url())
    expect((await session.call("status", { execution_id: id })).state).toBe("ended")
  })

  test("because it is a file is refused", async () => {
    using folder = temporaryFolder()
    const stateDir = join(folder.path, "file")
    writeFileSync(stateDir, "")

    const { exitCode, said } = await failedStart({ stateDir })

    expect(exitCode).toBe(1)
    expect(said).toContain(stateDir)
  })

  test("because another instance holds it is refused with its pid, which goes on", async () => {
    await using first = await Service.start()
    const { stateDir } = first

    const { exitCode, said } = await failedStart({ stateDir })

    expect(exitCode).toBe(1)
    expect(said).toContain(`pid ${first.pid}`)
    expect(said).toContain("cc-executor stop")
    expect(said).toContain("--state-dir")
    expect(first.lockedBy).toBe(first.pid)
    using session = await RawSession.open(await first.url())
    expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
  })

  test("because a newer program wrote its journal is refused, and not touched", async () => {
    using folder = temporaryFolder()
    const stateDir = folder.path
    await serveOnce({ stateDir })
    const journal = join(stateDir, "journal.sqlite")
    sql(journal, "PRAGMA user_version = 999")

    const { exitCode, said } = await failedStart({ stateDir })

    expect(exitCode).toBe(1)
    expect(said).toContain("999")
    expect(said).toContain(journal)
    expect(sql(journal, "PRAGMA user_version")).toEqual([{ user_version: 999 }])
  })

  test("because its journal is none is refused, and not overwritten", async () => {
    using folder = temporaryFolder()
    const stateDir = folder.path
    const text = "these are somebody's notes, and not a journal\n".repeat(100)
    writeFileSync(join(stateDir, "journal.sqlite"), text)

    const { exitCode, said } = await failedStart({ stateDir })

    expect(exitCode).toBe(1)
    expect(said).toContain("journal.sqlite")
    expect(await Bun.file(join(stateDir, "journal.sqlite")).text()).toBe(text)
  })
})

describe("a port that is taken", () => {
  test("is named, with what to do; nothing is left running", async () => {
    using folder = temporaryFolder()
    using holder = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
    const options = { stateDir: folder.path, flags: { port: String(holder.port) } }

    const { exitCode, said, pid } = await failedStart(options)

    expect(exitCode).toBe(1)
    expect(said).toContain(String(holder.port))
    expect(said).toContain("--port")
    expect(isRunning(pid)).toBe(false)
    await serveOnce({ stateDir: folder.path })
  })
})

describe("a setting that makes no sense", () => {
  const wrong: [string, ServiceOptions, string[]][] = [
    ["a flag that does not exist", { flags: { prot: "1" } }, ["--prot", "--port"]],
    ["a value out of range", { flags: { "max-sessions": "0" } }, ["--max-sessions", "1 to"]],
    ["a value of another kind", { flags: { grace: "soon" } }, ["--grace", '"soon"', "5s"]],
    ["a variable's", { env: { CC_EXECUTOR_GRACE: "soon" } }, ["CC_EXECUTOR_GRACE"]],
    ["a bare variable's", { env: { STREAM_TIMEOUT: "never" } }, ["STREAM_TIMEOUT", "300s"]],
    ["a relative directory", { flags: { "state-dir": "here" } }, ["--state-dir", "absolute"]],
    ["no program at all", { env: { ALLOWED_COMMANDS: "" } }, ["ALLOWED_COMMANDS"]],
  ]
  test.each(wrong)("%s is refused with the way to write it", async (_, options, words) => {
    const { exitCode, said } = await failedStart(options)

    expect(exitCode).toBe(2)
    for (const word of words) expect(said).toContain(word)
  })

  test("several of them are told at once", async () => {
    const flags = { "max-sessions": "0", grace: "soon" }
    const { said } = await failedStart({ flags })
    expect(said).toContain("--max-sessions")
    expect(said).toContain("--grace")
  })

  test("a variable that is misspelt is warned of, and the service starts", async () => {
    await using service = await Service.start({ env: { CC_EXECUTOR_MAX_SESION: "3" } })
    expect(service.said.join("\n")).toContain("did you mean CC_EXECUTOR_MAX_SESSIONS")
  })
})

describe("the bare names of the first generation", () => {
  test("still mean what they meant", async () => {
    const budget = { MAX_BUFFER_SIZE: "65536", MAX_BUFFER_LINES: "100" }
    const other = { MAX_SESSIONS: "1", STREAM_TIMEOUT: "600", LOG_LEVEL: "WARNING" }
    await using service = await Service.start({ env: { ...budget, ...other } })
    const url = await service.url()
    using session = await RawSession.open(url)

    const { id } = await session.run({ command: "echo hi" })
    const status = await session.call("status", { execution_id: id })
    using second = new RawSession(url)

    expect(status.budget).toMatchObject({ bytes: 65536, lines: 100 })
    expect((await second.refusalOf(null)).data.reason).toBe("SESSION_LIMIT")
    expect(service.log.filter((line) => line.includes('"level":"info"'))).toEqual([])
  })
})

type FailedStart = { exitCode: number; said: string; pid: number }

/** Starts a service that is expected to refuse; a stack trace is no refusal. */
async function failedStart(options: ServiceOptions): Promise<FailedStart> {
  await using service = new Service(options)
  await service.listening.then(
    () => Promise.reject(new Error("it started, although it should have refused")),
    () => undefined,
  )
  const said = service.said.join("\n")
  expect(said).toStartWith("cc-executor: ")
  expect(said).not.toMatch(/^\s+at /m)
  return { exitCode: await service.exited, said, pid: service.pid }
}

/** Starts, executes one command, ends; answers the execution's id. */
async function serveOnce(options: ServiceOptions): Promise<string> {
  await using service = await Service.start(options)
  using session = await RawSession.open(await service.url())
  return (await session.run({ command: "echo once" })).id
}

function sql(path: string, statement: string): unknown[] {
  using database = new Database(path)
  return database.query(statement).all()
}
