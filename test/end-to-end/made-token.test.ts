import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { filesWith } from "../support/files-with.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service, type ServiceOptions } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"

setDefaultTimeout(60_000)

describe("a service that may make a token, on every address, where there is none", () => {
  test("makes one that lets its bearer in, and only `token show` tells it", async () => {
    await using line = new CommandLine()
    await using service = await Service.start(open({ stateDir: line.stateDir }))

    const shown = await line.run(["token", "show"])
    const token = shown.stdout.trim()
    using session = await RawSession.open(await socketOf(service), bearing(token))
    const { execution_id: id } = await session.call("execute", { argv: ["env"] })
    await session.heard("process.completed", id)

    expect(shown).toMatchObject({ exitCode: 0, stdout: `${token}\n` })
    expect(shown.stderr).toContain(`Token ${token.slice(4, 14)} for made-token (execute, control`)
    expect(await session.call("status", { execution_id: id })).toMatchObject({
      principal: "made-token",
    })
    expect((await fetch(await service.url("/executions"))).status).toBe(401)
    const command = `cc-executor token show --state-dir ${line.stateDir}`
    const logged = service.log.find((entry) => entry.includes('"token made"')) ?? "{}"
    expect(JSON.parse(logged)).toMatchObject({ tokenId: token.slice(4, 14), showWith: command })
    expect(service.said.join("\n")).toContain(`this service made one. To show it: ${command}`)
    const secret = token.slice(15)
    expect([...service.log, ...service.said].join("\n")).not.toContain(secret)
    const file = join(line.stateDir, "made-token")
    expect(filesWith(line.stateDir, secret)).toEqual([file])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test("keeps it over restarts, and says each time how to show it", async () => {
    await using line = new CommandLine()
    const options = open({ stateDir: line.stateDir })
    await startAndStop(options)
    const before = await line.stdout("token", "show")

    const env = { CC_EXECUTOR_STATE_DIR: line.stateDir, CC_EXECUTOR_CONTAINER_NAME: "box" }
    const said = await startAndStop({ ...options, env: { ...options.env, ...env } })

    expect(await line.stdout("token", "show")).toBe(before)
    expect(said).toContain("that this service made: docker exec box cc-executor token show\n")
  })

  test("makes another at the next start after it was revoked", async () => {
    await using line = new CommandLine()
    const options = open({ stateDir: line.stateDir })
    await startAndStop(options)
    const before = await line.stdout("token", "show")
    await revokeToken(line.stateDir, "made-token")

    const revoked = await line.run(["token", "show"])
    await startAndStop(options)
    const after = await line.stdout("token", "show")

    expect(revoked).toMatchObject({ exitCode: 1, stdout: "" })
    expect(revoked.stderr).toContain("was revoked")
    expect(revoked.stderr).not.toContain(before)
    expect(after).not.toBe(before)
  })

  test("does not start on tokens that it cannot read, and says why", async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "tokens.json"), "{}", { mode: 0o644 })
    await using service = new Service(open({ stateDir: folder.path }))

    expect(await service.exited).toBe(1)
    await service.listening.catch(() => undefined)

    expect(service.said.join("\n")).toContain("accessible to others than its owner")
    expect(readFileSync(join(folder.path, "tokens.json"), "utf8")).toBe("{}")
  })
})

describe("no token is made", () => {
  test("without being asked: the service refuses to start, and says that it could be", async () => {
    await using service = new Service({ flags: { host: "0.0.0.0" } })

    expect(await service.exited).toBe(1)
    await service.listening.catch(() => undefined)

    expect(service.said.join("\n")).toContain("--make-token")
    expect(existsSync(join(service.stateDir, "made-token"))).toBe(false)
  })

  test("on loopback, where its user needs none", async () => {
    await using service = await Service.start({ env: { CC_EXECUTOR_MAKE_TOKEN: "true" } })

    expect(existsSync(join(service.stateDir, "made-token"))).toBe(false)
    expect(service.said.join("\n")).not.toContain("token show")
  })

  test("where there is one, of `token create` or in a file", async () => {
    using folder = temporaryFolder()
    const token = await makeToken(folder.path, { name: "ci" })
    using other = temporaryFolder()
    writeFileSync(join(other.path, "secret"), token)

    await startAndStop(open({ stateDir: folder.path }))
    const options = open({ stateDir: join(other.path, "state") })
    const file = { "accept-token-file": join(other.path, "secret") }
    await startAndStop({ ...options, flags: { ...options.flags, ...file } })

    expect(existsSync(join(folder.path, "made-token"))).toBe(false)
    expect(existsSync(join(other.path, "state", "made-token"))).toBe(false)
  })
})

test("`token show` says what to do where no token was made", async () => {
  await using line = new CommandLine()
  await line.stdout("token", "create", "--name", "ci")

  const shown = await line.run(["token", "show"])

  expect(shown).toMatchObject({ exitCode: 1, stdout: "" })
  expect(shown.stderr).toContain(`No service has made a token in ${line.stateDir}`)
  expect(shown.stderr).toContain("token create --name NAME")
})

/** As in a container; with a token for everybody, since this user could come without one. */
function open(options: ServiceOptions): ServiceOptions {
  const env = { CC_EXECUTOR_MAKE_TOKEN: "true", CC_EXECUTOR_REQUIRE_TOKEN: "true" }
  return { ...options, flags: { host: "0.0.0.0" }, env }
}

async function socketOf(service: Service): Promise<string> {
  const { port } = await service.listening
  return `ws://127.0.0.1:${port}/ws/mcp`
}

/** Answers what it said. */
async function startAndStop(options: ServiceOptions): Promise<string> {
  await using service = await Service.start(options)
  return `${service.said.join("\n")}\n`
}
