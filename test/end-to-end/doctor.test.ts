import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { Authority } from "../support/certificates.ts"
import { RawSession } from "../support/raw-session.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const Report = z.object({
  findings: z.array(
    z.object({
      level: z.string(),
      name: z.string(),
      text: z.string(),
      advice: z.string().optional(),
    }),
  ),
})

async function examine(
  stateDir: string | null,
  options: { env?: Record<string, string>; prefix?: string[] } = {},
) {
  const { env = {}, prefix = [] } = options
  const named = stateDir === null ? [] : ["--state-dir", stateDir]
  const command = [...prefix, executable, "doctor", "--json", ...named]
  const ran = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([ran.stdout.text(), ran.stderr.text()])
  if (err !== "") throw new Error(err)
  const { findings } = Report.parse(JSON.parse(out))
  const of = (name: string) => findings.filter((finding) => finding.name === name)
  const worst = findings.filter(({ level }) => level === "fail")
  return { exitCode: await ran.exited, of, worst }
}

describe("doctor, where no service runs", () => {
  test("says what a service would have that is started as this command is", async () => {
    using folder = temporaryFolder()
    const prefix = ["prlimit", "--nofile=70:70", "--"]

    const { of } = await examine(folder.path, { prefix })

    const whose = "(of a service that is started from here"
    expect(of("containment")[0]?.text).toContain(whose)
    expect(of("limits")[0]?.text).toContain(whose)
    expect(of("open files")).toMatchObject([
      { level: "warn", text: expect.stringContaining(`70 (maximum 70) ${whose}`) },
    ])
    expect(of("open files")[0]?.advice).toContain("may need 488")
  })

  test("says of a path that is no directory just that", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "file")
    writeFileSync(file, "")

    const { exitCode, worst } = await examine(file)

    expect(exitCode).toBe(1)
    expect(worst).toMatchObject([{ name: "state directory", text: `${file} is not a directory` }])
  })

  test.each([
    ["garbage", "fail", /SQLITE_NOTADB/, /restore it from a backup/],
    ["newer", "fail", /has version 99/, /this version of the service cannot start/],
    ["older", "warn", /has version 0/, /no data is lost/],
  ] as const)("says of a journal that is %s what to do", async (kind, level, text, advice) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "journal.sqlite")
    if (kind === "garbage") writeFileSync(path, "this is no database at all")
    else {
      using database = new Database(path)
      database.run(`PRAGMA user_version = ${kind === "newer" ? 99 : 0}`)
      database.run("CREATE TABLE some (thing TEXT)")
    }

    const [journal] = (await examine(folder.path)).of("journal")

    expect(journal?.level).toBe(level)
    expect(journal?.text).toMatch(text)
    expect(journal?.advice).toMatch(advice)
  })

  test("finds the files that settings name, and says which is missing", async () => {
    using folder = temporaryFolder()
    const gone = join(folder.path, "gone")
    const env = {
      CC_EXECUTOR_REDACT_FILE: gone,
      CC_EXECUTOR_TLS_CERT: gone,
      CC_EXECUTOR_TLS_KEY: gone,
      CC_EXECUTOR_POLICY_FILE: gone,
    }

    const { of, worst } = await examine(folder.path, { env })

    expect(of("files").map(({ text }) => text)).toEqual([
      expect.stringContaining("The patterns to redact could not be read"),
      expect.stringContaining(`--tls-cert ${gone} cannot be read (ENOENT)`),
    ])
    expect(of("policy")[0]?.text).toContain(`The policy file ${gone} cannot be read`)
    expect(worst).toHaveLength(3)
  })

  test("warns of a certificate that expires soon", async () => {
    using authority = new Authority()
    using folder = temporaryFolder()
    const { cert, key } = authority.issue({ subject: "/CN=localhost", days: 5 })

    const env = { CC_EXECUTOR_TLS_CERT: cert, CC_EXECUTOR_TLS_KEY: key }
    const [certificate] = (await examine(folder.path, { env })).of("certificate")

    expect(certificate).toMatchObject({ level: "warn", text: expect.stringContaining("4 days") })
  })

  test("says that a port is taken, and by whom it can be found", async () => {
    using folder = temporaryFolder()
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") })
    const taken = String(other.port)

    const [port] = (await examine(folder.path, { env: { CC_EXECUTOR_PORT: taken } })).of("port")

    expect(port).toMatchObject({
      level: "warn",
      text: expect.stringContaining(`${taken} is in use`),
    })
  })

  test("sees that the last service was killed", async () => {
    using folder = temporaryFolder()
    const stateDir = join(folder.path, "state")
    await using service = await Service.start({ stateDir })
    const { gatewayPid } = service
    service.kill("SIGKILL")
    await service.exited
    await until("the gateway is gone", () => !isRunning(gatewayPid))

    const [found] = (await examine(stateDir)).of("service")

    expect(found).toMatchObject({ level: "warn", text: expect.stringContaining("was killed") })
  })

  testUnless(notRoot, "says that the state directory is another user's", async () => {
    using folder = temporaryFolder()
    const stateDir = join(folder.path, "state")
    mkdirSync(stateDir, { mode: 0o700 })
    writeFileSync(join(stateDir, "lock"), "{}")
    chmodSync(folder.path, 0o755)

    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    const env = { HOME: "/" }
    const stranger = await examine(stateDir, { prefix: nobody, env })
    for (const path of [stateDir, join(stateDir, "lock")]) chownSync(path, 65534, 65534)
    const root = await examine(stateDir)

    expect(stranger.of("service")).toMatchObject([{ level: "warn" }])
    expect(stranger.of("state directory")).toMatchObject([
      { level: "fail", text: expect.stringContaining("cannot be written (EACCES)") },
    ])
    expect(root.of("state directory")).toMatchObject([
      { level: "warn", text: expect.stringContaining("belongs to uid 65534") },
    ])
  })
})

describe("doctor, where a service runs", () => {
  test("says that it is of another version, and how to change that", async () => {
    await using service = await Service.start()
    const lock = join(service.stateDir, "lock")
    const held = readFileSync(lock, "utf8")
    writeFileSync(lock, held.replace(/"version":"[^"]+"/, '"version":"0.0.1"'))

    const [found] = (await examine(service.stateDir)).of("service")

    expect(found).toMatchObject({ level: "warn", text: expect.stringContaining("version 0.0.1") })
    expect(found?.advice).toContain("cc-executor upgrade")
  })

  test("sums up what it is and does", async () => {
    await using service = await Service.start({ flags: { containment: "best-effort" } })
    using session = await RawSession.open(await service.url())
    await session.call("execute", { argv: ["sleep", "1000"] })

    const { of, exitCode } = await examine(service.stateDir)

    expect(exitCode).toBe(0)
    expect(of("service")[0]?.text).toMatch(
      /^running: pid \d+, version \d+\.\d+\.\d+, for \d+s, ans/,
    )
    expect(of("workload")[0]?.text).toMatch(
      /^executions: 1 running; sessions: 1; containment: best-effort; memory: [\d.]+ MiB \+ [\d.]/,
    )
  })

  test("says what that service has, and not what a new one would", async () => {
    // As its owner would find it: other limits than this shell's, and a mode of its own.
    const prefix = ["prlimit", "--nofile=700:700", "--"]
    const flags = { containment: "best-effort" }
    await using service = await Service.start({ flags, prefix })
    const whose = `(of the running service, pid ${service.pid})`

    const { of } = await examine(service.stateDir)

    expect(of("containment")).toMatchObject([
      { level: "warn", text: `best-effort: it was asked for ${whose}` },
    ])
    const [limits] = of("limits")
    expect(limits?.text).toMatch(/^memory: by rlimit, .* cpu: cannot be enforced/)
    expect(limits?.text).toEndWith(whose)
    expect(of("open files")).toMatchObject([{ level: "ok", text: `700 (maximum 700) ${whose}` }])
    expect(of("processes")[0]?.text).toEndWith(whose)
  })

  test("asks the one of $CC_EXECUTOR_URL, and says whose that is", async () => {
    using folder = temporaryFolder()
    await using service = await Service.start({ flags: { containment: "best-effort" } })
    const url = await service.url()
    const env = { CC_EXECUTOR_URL: url, CC_EXECUTOR_STATE_DIR: folder.path }

    const { of } = await examine(null, { env })

    const whose = `(of the service at ${url})`
    expect(of("containment")).toMatchObject([{ text: `best-effort: it was asked for ${whose}` }])
    expect(of("limits")).toMatchObject([{ text: expect.stringContaining(whose) }])
  })

  test("does not guess what a service tells only to admins", async () => {
    using folder = temporaryFolder()
    await using service = await Service.start({ env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } })
    const url = await service.url()
    const env = { CC_EXECUTOR_URL: url, CC_EXECUTOR_STATE_DIR: folder.path }

    const { of } = await examine(null, { env })

    expect(of("containment")).toMatchObject([
      { level: "ok", text: expect.stringContaining(`not known: the service at ${url} tells it`) },
    ])
    expect(of("limits")).toEqual([])
  })
})
