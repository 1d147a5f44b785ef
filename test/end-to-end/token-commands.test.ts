import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { TokenBook } from "../../src/service/access/tokens/token-book.ts"
import { CommandLine } from "../cli/command-line.ts"
import { filesWith } from "../support/files-with.ts"
import { byScale } from "../support/scale.ts"

setDefaultTimeout(60_000)

const now = () => new Date()

describe("token create", () => {
  test("shows the token alone on standard output, and what it is beside it", async () => {
    await using line = new CommandLine()

    const made = await line.run(["token", "create", "--name", "ci"])

    expect(made.exitCode).toBe(0)
    expect(made.stdout).toMatch(/^cce_[a-z2-7]{10}_[a-z2-7]{58}\n$/)
    const id = made.stdout.slice(4, 14)
    expect(made.stderr).toContain(`Token ${id} for ci (execute, control, read), valid until 20`)
    expect(made.stderr).toContain("CC_EXECUTOR_TOKEN")
    expect(made.stderr).not.toContain(made.stdout.trim())
  })

  test("keeps nothing from which the secret could be read", async () => {
    await using line = new CommandLine()

    const token = (await line.stdout("token", "create", "--name", "ci")).trim()

    const secret = token.slice(15, 67)
    expect(filesWith(line.stateDir, secret, token.slice(-20))).toEqual([])
    expect(await line.stdout("token", "list", "--json")).not.toContain("hash")
  })

  test("works before there is a state directory, and makes it for its owner only", async () => {
    await using line = new CommandLine()
    const directory = join(line.stateDir, "deep", "state")

    const options = ["--name", "ci", "--state-dir", directory]
    const made = await line.run(["token", "create", ...options])

    expect(made.exitCode).toBe(0)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(join(directory, "tokens.json")).mode & 0o777).toBe(0o600)
    expect(new TokenBook(directory, () => undefined).check(made.stdout.trim(), now()).ok).toBe(true)
  })

  test("works beside a running service", async () => {
    await using line = new CommandLine()
    await line.run(["run", "--", "true"])

    const token = await line.stdout("token", "create", "--name", "ci")

    expect(new TokenBook(line.stateDir, () => undefined).check(token, now()).ok).toBe(true)
  })

  test("says as JSON what was asked for", async () => {
    await using line = new CommandLine()

    const options = ["--scope", "admin,read,admin", "--ttl", "none", "--json"]
    const made = JSON.parse(await line.stdout("token", "create", "--name", "boss", ...options))

    expect(made).toMatchObject({
      token: expect.stringMatching(/^cce_/),
      id: made.token.slice(4, 14),
      name: "boss",
      scopes: ["read", "admin"],
      expires_at: null,
      state: "good",
    })
  })

  test("loses none of many that are made at once", async () => {
    await using line = new CommandLine()
    const many = byScale({ short: 8, full: 20, long: 20 })

    const made = await Promise.all(
      Array.from({ length: many }, (_, index) =>
        line.run(["token", "create", "--name", `client-${index}`]),
      ),
    )

    const book = new TokenBook(line.stateDir, () => undefined)
    expect(made.map(({ exitCode }) => exitCode)).toEqual(made.map(() => 0))
    for (const { stdout } of made) expect(book.check(stdout.trim(), now()).ok).toBe(true)
    expect(JSON.parse(await line.stdout("token", "list", "--json")).tokens).toHaveLength(many)
  })
})

describe("token list", () => {
  test("shows every token with its state", async () => {
    await using line = new CommandLine()
    await line.stdout("token", "create", "--name", "short", "--ttl", "1ms")
    await line.stdout("token", "create", "--name", "gone", "--scope", "read")
    await line.stdout("token", "create", "--name", "kept", "--ttl", "none")
    await line.run(["token", "revoke", "gone"])

    const rows = (await line.stdout("token", "list")).split("\n")

    expect(rows[0]).toMatch(/^ID +NAME +SCOPES +CREATED +EXPIRES +STATE$/)
    expect(rows[1]).toMatch(/^[a-z2-7]{10} +short +execute,control,read .* expired$/)
    expect(rows[2]).toMatch(/^[a-z2-7]{10} +gone +read .* revoked$/)
    expect(rows[3]).toMatch(/^[a-z2-7]{10} +kept .* never +good$/)
  })

  test("without any shows an empty table, and starts nothing", async () => {
    await using line = new CommandLine()

    expect(await line.stdout("token", "list")).toBe("ID  NAME  SCOPES  CREATED  EXPIRES  STATE")
    expect(readdirSync(line.stateDir)).toEqual([])
  })
})

describe("token revoke", () => {
  test("is seen at once by whoever has looked before", async () => {
    await using line = new CommandLine()
    const token = await line.stdout("token", "create", "--name", "ci")
    const book = new TokenBook(line.stateDir, () => undefined)
    expect(book.check(token, now()).ok).toBe(true)

    const revoked = await line.run(["token", "revoke", token.slice(4, 14)])

    expect(revoked).toMatchObject({ exitCode: 0, stderr: `${token.slice(4, 14)} (ci) revoked\n` })
    expect(book.check(token, now())).toEqual({ ok: false, failure: "revoked" })
    expect(book.isStillGood(token.slice(4, 14), now())).toBe(false)
  })

  test("takes names, whole tokens, and all; tells what there is not", async () => {
    await using line = new CommandLine()
    await line.stdout("token", "create", "--name", "twice")
    await line.stdout("token", "create", "--name", "twice")
    const pasted = await line.stdout("token", "create", "--name", "pasted")
    await line.stdout("token", "create", "--name", "last")

    const byName = await line.run(["token", "revoke", "twice", "nobody"])
    const byToken = await line.run(["token", "revoke", pasted])
    const all = await line.run(["token", "revoke", "--all"])

    expect(byName.exitCode).toBe(1)
    expect(byName.stderr.match(/\(twice\) revoked$/gm)).toHaveLength(2)
    expect(byName.stderr).toContain("Unknown token: nobody.")
    expect(byToken).toMatchObject({
      exitCode: 0,
      stderr: `${pasted.slice(4, 14)} (pasted) revoked\n`,
    })
    expect(all.exitCode).toBe(0)
    expect(all.stderr).toContain("(last) revoked")
    expect(all.stderr.match(/was revoked/g)).toHaveLength(3)
  })
})

describe("a file with tokens that cannot be trusted", () => {
  test.each([
    [["token", "create", "--name", "ci"]],
    [["token", "list"]],
    [["token", "revoke", "--all"]],
  ])("makes %j fail with what to do, and is left as it was", async (argv) => {
    await using line = new CommandLine()
    await line.stdout("token", "create", "--name", "ci")
    const file = join(line.stateDir, "tokens.json")
    const before = readFileSync(file)

    chmodSync(file, 0o644)
    const exposed = await line.run(argv)
    const sameBytes = readFileSync(file).equals(before)
    rmSync(file)
    writeFileSync(file, before.subarray(0, 40), { mode: 0o600 })
    const damaged = await line.run(argv)

    expect(exposed).toMatchObject({ exitCode: 1, stdout: "" })
    expect(exposed.stderr).toContain(`chmod 600 ${file}`)
    expect(sameBytes).toBe(true)
    expect(damaged).toMatchObject({ exitCode: 1, stdout: "" })
    expect(damaged.stderr).toContain("are not valid: it is not JSON")
    expect(readFileSync(file)).toHaveLength(40)
  })

  test("is found by doctor, as a sound one is", async () => {
    await using line = new CommandLine()
    const before = await line.stdout("doctor")
    await line.stdout("token", "create", "--name", "ci")
    await line.stdout("token", "create", "--name", "old")
    await line.run(["token", "revoke", "old"])
    const sound = await line.stdout("doctor")

    chmodSync(join(line.stateDir, "tokens.json"), 0o640)
    const exposed = await line.run(["doctor"])

    expect(before).not.toContain("tokens")
    expect(sound).toMatch(/^ok +tokens .*, 1 of 2 are valid$/m)
    expect(exposed.exitCode).toBe(1)
    expect(exposed.stdout).toMatch(/^fail +tokens .* accessible to others/m)
  })
})
