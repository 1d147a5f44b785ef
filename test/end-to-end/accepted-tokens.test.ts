import { describe, expect, test } from "bun:test"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { filesWith } from "../support/files-with.ts"
import { RawSession } from "../support/raw-session.ts"
import { executable, Service, type ServiceOptions } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { bearing } from "../support/tokens.ts"

const timeoutMs = 60_000

describe("a service that was given a file of tokens", () => {
  test(
    "listens on every address, and lets in whoever has one of them",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "secret")
      const token = await printedToken(file)
      await using service = await Service.start(strict(file))
      const url = await loopback(service)

      using session = await RawSession.open(url, bearing(token))
      const { execution_id: id } = await session.call("execute", { argv: ["env"] })
      await session.heard("process.completed", id)

      expect((await fetch(await service.url("/executions"))).status).toBe(401)
      expect(await session.call("status", { execution_id: id })).toMatchObject({
        principal: "token-file",
        state: "ended",
      })
      const secret = token.slice(token.lastIndexOf("_") + 1)
      expect(filesWith(service.stateDir, secret)).toEqual([])
      expect([...service.log, ...service.said].join("\n")).not.toContain(secret)
    },
    timeoutMs,
  )

  test(
    "closes the sessions of a token that was taken out, and takes the new one",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "secret")
      const before = await printedToken(file)
      await using service = await Service.start(strict(file))
      const url = await loopback(service)
      using session = await RawSession.open(url, bearing(before))

      const after = await printedToken(file)

      expect(await session.closed).toMatchObject({ code: 1008, reason: "UNAUTHORIZED" })
      using _ = await RawSession.open(url, bearing(after))
    },
    timeoutMs,
  )

  test.each([
    ["is not there", "nowhere", "cannot be read (ENOENT)"],
    ["holds no token", "empty", "there is no token in it"],
  ])("does not start when the file %s, and says what to do", async (_, name, words) => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "empty"), "\n")
    const file = join(folder.path, name)
    await using service = new Service({ flags: { "accept-token-file": file } })

    expect(await service.exited).toBe(1)
    await service.listening.catch(() => undefined)

    expect(service.said.join("\n")).toContain(words)
    expect(service.said.join("\n")).toContain(file)
  })
})

test("`token new` keeps nothing", async () => {
  await using line = new CommandLine()

  const made = await line.run(["token", "new"])
  const listed = await line.run(["token", "list", "--json"])

  expect(made).toMatchObject({ exitCode: 0, stderr: "" })
  expect(made.stdout).toMatch(/^cce_[a-z2-7]{10}_[a-z2-7]{58}\n$/)
  expect(listed.stdout).toContain('"tokens": []')
})

function strict(file: string): ServiceOptions {
  const flags = { host: "0.0.0.0", "accept-token-file": file }
  return { flags, env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } }
}

async function loopback(service: Service): Promise<string> {
  const { port } = await service.listening
  return `ws://127.0.0.1:${port}/ws/mcp`
}

/** Makes a token as a user does, into a file. */
async function printedToken(file: string): Promise<string> {
  const run = Bun.spawn([executable, "token", "new"], { stdout: "pipe" })
  const text = await run.stdout.text()
  expect(await run.exited).toBe(0)
  writeFileSync(file, text)
  chmodSync(file, 0o600)
  return text.trim()
}
