import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executable, Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { runUpgrade } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

let service: Service
beforeAll(async () => {
  service = await Service.start()
})
afterAll(() => service[Symbol.asyncDispose]())

/** A program of a few lines of shell, in which `$REAL` is the executable. */
function program(folder: string, script: string): string {
  const path = join(folder, "program")
  writeFileSync(path, `#!/bin/sh\nREAL='${executable}'\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

const answersThen = (rest: string) =>
  `if [ "$1" = __upgrade-check ]; then exec "$REAL" __upgrade-check; fi\n${rest}`

/** An execution runs, the upgrade is refused for the reason, and the execution has not noticed. */
async function expectRefused(makeProgram: (folder: string) => string, why: RegExp): Promise<void> {
  using folder = temporaryFolder()
  await using client = await clientOf(service)
  const run = await Steered.start(client, { ...shell("echo a; read go; exit 7"), stdin: "pipe" })
  await using _ = { [Symbol.asyncDispose]: () => canceled(run) }
  await run.untilLine(/^a$/)

  const { exitCode, stderr } = await runUpgrade(service, makeProgram(folder.path))

  expect(stderr).toMatch(why)
  expect(exitCode).toBe(1)
  expect((await run.status()).state).toBe("running")
  const other = await client.execute({ command: "echo b" })
  expect(await other.ended).toMatchObject({ exit_code: 0 })
  await run.execution.write("\n")
  expect(await run.ended()).toMatchObject({ exit_code: 7 })
  expect(run.text).toBe("a\n")
}

/** Of what a failed test would leave behind for the others. */
async function canceled(run: Steered): Promise<void> {
  if ((await run.status()).state !== "ended") await run.execution.cancel()
}

describe("an upgrade to what cannot take over is refused before anything happens:", () => {
  test("a file that is not there", async () => {
    await expectRefused((folder) => join(folder, "nothing"), /nothing cannot be started/)
  })

  test("a program that is no cc-executor", async () => {
    await expectRefused(() => "/bin/true", /is not a cc-executor that can take over from/)
  })

  test("a program that does not answer sensibly", async () => {
    const script = "echo '{}'"
    await expectRefused((folder) => program(folder, script), /is not a cc-executor/)
  })

  test("one that understands another form of a handover", async () => {
    const answer = '{"version":"7.0.0","handover":99,"state":99,"journal":99}'
    await expectRefused(
      (folder) => program(folder, `echo '${answer}'`),
      /version 7\.0\.0\) cannot take over .* format 99, .* Stop and start instead/,
    )
  })

  test("one that is older than the state directory", async () => {
    const answer = '{"version":"0.0.1","handover":2,"state":0,"journal":1}'
    await expectRefused(
      (folder) => program(folder, `echo '${answer}'`),
      /version 0\.0\.1\) is older than the state directory/,
    )
  })
})

describe("an upgrade in which the new program fails is taken back:", () => {
  test("it is no program after all", async () => {
    const script = (folder: string) => {
      const path = join(folder, "program")
      const once = `rm ${path}; printf 'no program' > ${path}; chmod 755 ${path}`
      return program(folder, answersThen("exit 1").replace("then exec", `then ${once}; exec`))
    }
    await expectRefused(script, /The new program did not take over: execve: ENOEXEC/)
  })

  test("it does not understand how the service was started", async () => {
    const rest = 'exec "$REAL" serve --no-such-setting 1'
    await expectRefused(
      (folder) => program(folder, answersThen(rest)),
      /The new program did not take over: It ended at once, with exit code 2/,
    )
  })

  test("it cannot use what it needs", async () => {
    const rest = 'exec "$REAL" "$@" --redact-file /dev/null/nothing'
    await expectRefused(
      (folder) => program(folder, answersThen(rest)),
      /did not take over: The patterns to redact could not be read/,
    )
  })

  test("it would redact otherwise than the one before", async () => {
    const patterns = (folder: string) => {
      const file = join(folder, "redact")
      writeFileSync(file, "other = abc\n")
      return program(folder, answersThen(`exec "$REAL" "$@" --redact-file ${file}`))
    }
    await expectRefused(patterns, /The patterns in --redact-file have changed/)
  })
})

describe("`cc-executor upgrade`", () => {
  test("has nothing to do where no service runs", async () => {
    using folder = temporaryFolder()

    const { exitCode, stderr } = await runUpgrade({ stateDir: folder.path })

    expect(stderr).toBe(`No service is running for ${folder.path}.\n`)
    expect(exitCode).toBe(0)
  })

  test("leaves a service alone that could not hand over: the signal would end it", async () => {
    const lock = join(service.stateDir, "lock")
    const own = readFileSync(lock, "utf8")
    using _ = { [Symbol.dispose]: () => writeFileSync(lock, own) }
    const { upgrades, ...older } = JSON.parse(own)
    expect(upgrades).toBeDefined()
    writeFileSync(lock, JSON.stringify({ ...older, version: "0.0.1" }))

    const { exitCode, stderr } = await runUpgrade(service)

    expect(stderr).toContain("is version 0.0.1, which cannot be upgraded in place")
    expect(exitCode).toBe(1)
    expect((await fetch(await service.url("/health"))).status).toBe(200)
  })
})

describe("a state directory that a newer version has used", () => {
  test("is refused by this one, in words, and left as it is", async () => {
    using folder = temporaryFolder()
    const schema = JSON.stringify({ schema: 99, written_by: "8.0.0" })
    writeFileSync(join(folder.path, "schema.json"), schema)

    const older = new Service({ stateDir: folder.path })
    const exitCode = await older.exited

    expect(exitCode).toBe(1)
    expect(older.said.join("\n")).toMatch(
      /has version 99, written by cc-executor 8\.0\.0, .* only up to 1\. Run the newer program/,
    )
    expect(readFileSync(join(folder.path, "schema.json"), "utf8")).toBe(schema)
  })

  test("is numbered by the first service that uses it", async () => {
    const schema = JSON.parse(readFileSync(join(service.stateDir, "schema.json"), "utf8"))

    expect(schema).toMatchObject({ schema: 1 })
  })
})
