import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { describeAContainment } from "../support/each-containment.ts"
import { byScale } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { runUpgrade, upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

describe("what would keep the old program from going on keeps the upgrade from beginning:", () => {
  const folder = temporaryFolder()
  const patterns = join(folder.path, "redact")
  const token = join(folder.path, "token")
  let service: Service

  beforeAll(async () => {
    writeFileSync(patterns, "one = abc\n")
    writeFileSync(token, Bun.spawnSync([executable, "token", "new"]).stdout, { mode: 0o600 })
    const flags = { "redact-file": patterns, "accept-token-file": token }
    service = await Service.start({ flags })
  })

  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  /** Spoils a file of the service's, and expects an upgrade refused and an execution unharmed. */
  async function expectUnharmed(file: string, spoil: () => void, why: RegExp): Promise<void> {
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell("echo a; read go; exit 7"), stdin: "pipe" })
    await run.untilLine(/^a$/)
    const sound = readFileSync(file)
    using _ = { [Symbol.dispose]: () => writeFileSync(file, sound, { mode: 0o600 }) }
    spoil()

    const { exitCode, stderr } = await runUpgrade(service)

    expect(stderr).toMatch(why)
    expect(exitCode).toBe(1)
    await run.execution.write("\n")
    expect(await run.ended()).toMatchObject({ exit_code: 7 })
  }

  test("patterns that have changed", async () => {
    const spoil = () => writeFileSync(patterns, "two = abcd\n")
    await expectUnharmed(patterns, spoil, /--redact-file have changed/)
  })

  test("a file of tokens that is gone", async () => {
    await expectUnharmed(token, () => rmSync(token), /token/)
  })

  test("a state directory whose version cannot be read any more", async () => {
    const schema = join(service.stateDir, "schema.json")
    const spoil = () => writeFileSync(schema, "{")
    await expectUnharmed(schema, spoil, /schema\.json, .* is not valid/)
  })
})

describe("a program whose file was replaced by one that fails", () => {
  test("goes on under its old name, and can be upgraded from there", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "cc-executor")
    copyFileSync(executable, file)
    await using service = await Service.start({ executable: file })
    await using client = await clientOf(service)
    const run = await Steered.start(client, { ...shell("read go; exit 7"), stdin: "pipe" })
    const bad = join(folder.path, "bad")
    const answer = `if [ "$1" = __upgrade-check ]; then exec '${executable}' __upgrade-check; fi`
    writeFileSync(bad, `#!/bin/sh\n${answer}\nexec '${executable}' serve --no-such-setting 1\n`)
    chmodSync(bad, 0o755)
    Bun.spawnSync(["mv", bad, file])

    const failed = await runUpgrade(service, file)
    Bun.spawnSync(["install", executable, file])
    service.kill("SIGUSR2") // to the program under its own name

    expect(failed.stderr).toContain("The new program did not take over")
    const upgrades = () => service.log.filter((line) => line.includes('"service upgraded"')).length
    await until("it is upgraded", () => upgrades() === 1)
    await run.execution.write("\n")
    expect(await run.ended()).toMatchObject({ exit_code: 7 })
  })
})

describe("a service that is only just starting", () => {
  test("does not die of being asked to upgrade", async () => {
    const rounds = byScale({ short: 2, full: 5, long: 5 })
    for (let round = 0; round < rounds; round += 1) {
      using folder = temporaryFolder()
      await using service = new Service({ stateDir: folder.path })
      const lock = join(folder.path, "lock")
      await until("its lock", () => {
        return existsSync(lock) && readFileSync(lock, "utf8").includes("upgrades")
      })
      service.kill("SIGUSR2")

      await until("it answers", async () => (await fetch(await service.url("/health"))).ok)
      service.kill("SIGTERM")
      expect(await service.exited).toBe(0)
    }
  })
})

describe("a service of another user", () => {
  testUnless(notRoot, "is upgraded as that user, not by root", async () => {
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    const file = join(folder.path, "cc-executor")
    copyFileSync(executable, file)
    const stateDir = join(folder.path, "state")
    mkdirSync(stateDir, { mode: 0o700 })
    chownSync(stateDir, 65_534, 65_534)
    const prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    const options = { executable: file, stateDir, prefix, cwd: "/" }
    await using service = await Service.start(options)
    const before = readdirSync(stateDir)

    const byRoot = await runUpgrade(service, file)
    const left = readdirSync(stateDir)
    const command = [...prefix, file, "upgrade", "--state-dir", stateDir, "--json"]
    const byOwner = Bun.spawnSync(command, { env: { ...process.env, HOME: "/" } })

    expect(byRoot.exitCode).toBe(1)
    expect(byRoot.stderr).toContain("belongs to user 65534, and this is user 0. Run this as")
    expect(left).toEqual(before)
    expect(JSON.parse(byOwner.stdout.toString())).toMatchObject({ phase: "done" })
  })
})

describeAContainment("input that a child does not read yet", (containment) => {
  test("arrives whole after an upgrade, and so does its end", async () => {
    await using service = await Service.start({ flags: { containment } })
    await using client = await clientOf(service)
    using folder = temporaryFolder()
    const gate = join(folder.path, "go")
    const script = `echo ready; until [ -e ${gate} ]; do sleep 0.05; done; wc -c`
    const run = await Steered.start(client, { ...shell(script), stdin: "pipe" })
    await run.untilLine(/^ready$/)
    const data = "0123456789abcdef".repeat(32_768)
    const sent = run.execution.write(data)
    await until("the pipe is full", async () => (await run.status()).stdin_bytes > 0)

    await upgraded(service)
    writeFileSync(gate, "")
    await sent
    await run.execution.end()

    expect(await run.ended()).toMatchObject({ exit_code: 0 })
    expect(run.text.trim().split(/\s+/)).toEqual(["ready", String(data.length)])
    expect((await run.receipt()).stdin_bytes).toBe(data.length)
  })
})
