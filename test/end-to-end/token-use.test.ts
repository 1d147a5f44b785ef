import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { failure } from "../../src/protocol/failure.ts"
import { newToken, tokenText } from "../../src/service/access/tokens/token.ts"
import { CommandLine } from "../cli/command-line.ts"
import { guarded } from "../support/guarded.ts"
import { ScriptedServer } from "../support/scripted-server.ts"

setDefaultTimeout(60_000)

const good = tokenText(newToken((bytes) => crypto.getRandomValues(bytes)))
const bad = tokenText(newToken((bytes) => crypto.getRandomValues(bytes)))
const unknown = failure("UNAUTHORIZED", "A token is needed, and this is none that is known here.")

describe("a command for a service that wants a token", () => {
  test("brings it from a variable or a file", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    guarded(server, good, unknown)
    const file = join(line.stateDir, "token")
    writeFileSync(file, `${good}\n`)
    const ps = ["ps", "--json", "--url", server.url]

    const outcomes = [
      await line.run(ps, { env: { CC_EXECUTOR_TOKEN: good } }),
      await line.run(ps, { env: { CC_EXECUTOR_TOKEN_FILE: file } }),
      await line.run([...ps, "--token-file", file]),
      await line.run(["healthcheck", "--url", server.url, "--token-file", file]),
    ]

    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      outcomes.map(() => ({ exitCode: 0, stderr: "" })),
    )
  })

  test("without one says what was refused and what to do, and does not try again", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    const guard = guarded(server, good, unknown)

    const { exitCode, stdout, stderr } = await line.run(["ps", "--url", server.url])

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
    expect(stderr).toBe(
      `cc-executor: ${server.url}: The service refused (401): ${unknown.message} ` +
        "Set CC_EXECUTOR_TOKEN, or use --token-file.\n",
    )
    expect(guard.shown).toEqual([null, null]) // the socket, then the question why
  })

  test("with a wrong one says where it came from, and not what it is", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    guarded(server, good, unknown)
    const env = { CC_EXECUTOR_TOKEN: bad }

    const run = await line.run(["run", "--url", server.url, "--", "true"], { env })
    const health = await line.run(["healthcheck", "--url", server.url], { env })

    expect(run.exitCode).toBe(125)
    expect(run.stderr).toContain("The token came from CC_EXECUTOR_TOKEN.")
    expect(health.exitCode).toBe(1)
    expect(health.stderr).toContain(`The service refused (401): ${unknown.message}`)
    expect(run.stderr + health.stderr).not.toContain(bad.slice(4, 30))
  })

  test.each([
    ["FORBIDDEN", "The service refused (403): Not from there.\n"],
    ["RATE_LIMITED", "The service refused (429): Not from there. Wait a while"],
  ] as const)("that is refused as %s says it in the service's words", async (reason, said) => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    guarded(server, null, failure(reason, "Not from there."))

    const { exitCode, stderr } = await line.run(["ps", "--url", server.url])

    expect(exitCode).toBe(1)
    expect(stderr).toContain(said)
  })

  test("does not let the service's words steer the terminal", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    guarded(server, null, failure("UNAUTHORIZED", "\x1b]0;title\x07\nsecond line"))

    const { stderr } = await line.run(["ps", "--url", server.url])

    expect(stderr).toContain("\\u001b]0;title")
    expect(stderr.trim().split("\n")).toHaveLength(1)
  })

  test("with half of one does not even ask", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    const guard = guarded(server, good, unknown)
    const env = { CC_EXECUTOR_TOKEN: good.slice(0, -3) }

    const { exitCode, stderr } = await line.run(["ps", "--url", server.url], { env })

    expect(exitCode).toBe(1)
    expect(stderr).toContain("CC_EXECUTOR_TOKEN: the token is incomplete or mistyped")
    expect(guard.shown).toEqual([])
  })

  test("ends by itself when the token is revoked under it; ps never showed it", async () => {
    await using server = new ScriptedServer()
    await using line = new CommandLine()
    const guard = guarded(server, good, unknown)
    const watch = ["ps", "--watch", "--json", "--url", server.url]
    await using watching = line.startWith({ CC_EXECUTOR_TOKEN: good }, ...watch)
    await server.until(() => server.seen("list").length > 0)
    const shown = readFileSync(`/proc/${watching.pid}/cmdline`, "utf8")

    guard.token = null
    server.cut()

    expect(await watching.exited).toBe(1)
    expect(watching.stderr).toContain("The service refused the connection (401)")
    expect(shown).toContain("--watch")
    expect(shown).not.toContain(good.slice(4, 30))
  })
})

describe("a token in the environment", () => {
  test("reaches neither a service that is started nor what it runs", async () => {
    await using line = new CommandLine()
    const env = { CC_EXECUTOR_TOKEN: good, CC_EXECUTOR_TOKEN_FILE: "/nowhere" }

    const { exitCode, stdout, stderr } = await line.run(["run", "--", "env"], { env })

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    for (const text of [stdout, ...[line.keeperPid, line.gatewayPid].map(environmentOf)]) {
      expect(text).toContain("PATH=")
      expect(text).not.toContain("CC_EXECUTOR_TOKEN")
      expect(text).not.toContain(good)
    }
    const log = readFileSync(join(line.stateDir, "service.log"), "utf8")
    expect(log).not.toContain("is not a setting")
  })
})

function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, "utf8")
}
