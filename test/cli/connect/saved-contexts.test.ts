import { afterAll, describe, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { addressOf } from "../../../src/cli/connect/address.ts"
import { offerContexts } from "../../../src/cli/connect/offer-contexts.ts"
import { chosenService } from "../../../src/cli/connect/service-choice.ts"
import { dispatch } from "../../../src/cli/dispatch.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { notRoot, testUnless } from "../../support/test-unless.ts"
import { fakeContext } from "../fake-context.ts"

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

/** A user with a configuration directory, and a command line. */
function user(variables: Record<string, string> = {}) {
  const home = mkdtempSync(join(folder.path, "home-"))
  const env = { XDG_CONFIG_HOME: join(home, "config"), ...variables }
  const file = join(home, "config/cc-executor/contexts.json")
  const token = join(home, "token")
  writeFileSync(token, "secret-word")
  const run = async (...argv: string[]) => {
    const context = fakeContext({ env, home, cwd: home })
    const exitCode = await dispatch(context, argv)
    return { exitCode, stdout: context.stdout.text(), stderr: context.stderr.text() }
  }
  const plant = (text: string) => {
    mkdirSync(join(file, ".."), { recursive: true })
    writeFileSync(file, text)
  }
  return { env, home, file, run, plant }
}

const team = ["context", "add", "team", "--url", "ws://team.example:8003", "--token-file", "token"]

describe("a saved context", () => {
  test("keeps the address and absolute paths, no secret, for its owner alone", async () => {
    const { file, home, run } = user()

    expect((await run(...team)).exitCode).toBe(0)

    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      current: null,
      contexts: { team: { url: "ws://team.example:8003", token_file: join(home, "token") } },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700)
  })

  test("is used by --context, by the variable, and from `context use` on", async () => {
    const { env, home, run } = user()
    await run(...team)
    const remote = { kind: "remote", url: "ws://team.example:8003/ws/mcp", context: "team" }

    expect(addressOf({ env, home }, {}).kind).toBe("local")
    expect(addressOf({ env, home }, { context: "team" })).toMatchObject(remote)
    expect(addressOf({ env: { ...env, CC_EXECUTOR_CONTEXT: "team" }, home }, {})).toMatchObject(
      remote,
    )
    await run("context", "use", "team")
    const used = addressOf({ env, home }, {})
    expect(used).toMatchObject(remote)
    expect(used.kind === "remote" && used.token?.read()).toBe("secret-word")
    expect(addressOf({ env, home }, { context: "local" }).kind).toBe("local")
    await run("context", "use", "local")
    expect(addressOf({ env, home }, {}).kind).toBe("local")
  })

  test("gives way to what names a service more directly", async () => {
    const { env, home, run } = user()
    await run(...team)
    await run("context", "use", "team")
    const by = (more: Record<string, string>, values: Parameters<typeof chosenService>[1]) =>
      chosenService({ env: { ...env, ...more }, home }, values).by
    const url = { CC_EXECUTOR_URL: "ws://other" }

    expect(by(url, { url: "ws://x" })).toBe("--url")
    expect(by(url, { "state-dir": "/x" })).toBe("--state-dir")
    expect(by(url, { context: "team" })).toBe("--context")
    expect(by({ ...url, CC_EXECUTOR_CONTEXT: "team" }, {})).toBe("CC_EXECUTOR_URL")
    expect(by({ CC_EXECUTOR_CONTEXT: "team", CC_EXECUTOR_STATE_DIR: "/x" }, {})).toBe(
      "CC_EXECUTOR_CONTEXT",
    )
    expect(by({ CC_EXECUTOR_STATE_DIR: "/x" }, {})).toBe("CC_EXECUTOR_STATE_DIR")
    expect(by({}, {})).toBe("context use")
    expect(() => by({}, { context: "team", url: "ws://x" })).toThrow("two services")
  })

  test("is listed, shown, offered, replaced and removed", async () => {
    const { env, home, run } = user()
    await run(...team)
    await run("context", "use", "team")

    expect((await run("context", "list")).stdout).toMatch(/^\* +team +ws:\/\/team.example:8003/m)
    expect((await run("context", "show")).stdout).toMatch(/chosen by +`cc-executor context use`/)
    expect(offerContexts({ env, home }).map(({ value }) => value)).toEqual(["team", "local"])
    const [again, replaced] = [await run(...team), await run(...team, "--replace")]
    expect(again).toMatchObject({ exitCode: 1 })
    expect(again.stderr).toContain('There is a context "team" already. --replace changes it.')
    expect(replaced.exitCode).toBe(0)
    expect((await run("context", "remove", "team")).stderr).toBe(
      "Removed team. Commands now use the local service.\n",
    )
    expect((await run("context", "use", "team")).stderr).toContain(
      'There is no context "team". There are: local.',
    )
  })

  test("says in `context use` what comes before it in this shell", async () => {
    const { run } = user({ CC_EXECUTOR_URL: "ws://other" })
    await run(...team)

    expect((await run("context", "use", "team")).stderr).toContain("$CC_EXECUTOR_URL names another")
  })

  test("names itself where it cannot be used", async () => {
    const { home, run } = user()
    await run(...team)
    writeFileSync(join(home, "token"), "two words")

    const failed = await run("ps", "--context", "team")

    expect(failed.exitCode).toBe(1)
    expect(failed.stderr).toContain("this is not a token")
    const nobody = ["context", "add", "gone", "--url", "ws://127.0.0.1:1"]
    await run(...nobody)
    expect((await run("ps", "--context", "gone")).stderr).toContain(
      'No service answers at ws://127.0.0.1:1/ws/mcp (context "gone")',
    )
  })

  test.each([
    [["context", "add", "local", "--url", "ws://x"], '"local" is the local service'],
    [["context", "add", "a b", "--url", "ws://x"], "is not a name"],
    [["context", "add", "a"], "--url is missing"],
    [["context", "add", "a", "--url", "ftp://x"], "is not a service address"],
    [["context", "add", "a", "--url", "ws://me:pass@x"], "contains a user, a password"],
    [["ps", "--context", "a"], 'There is no context "a". There are: local.'],
  ])("%j is refused with exit code 2", async (argv, message) => {
    const { run } = user()

    const { exitCode, stderr } = await run(...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain("me:pass")
  })
})

describe("a broken file of contexts", () => {
  test.each([
    ['{\n  "contexts": {\n    oops\n', 3],
    ['{\n  "contexts": {\n    "a": {\n      "url": 7\n    }\n  }\n}\n', 4],
    ['{\n  "contexts": {\n    "a": { "url": "ws://x", "token_file": "t" }\n  }\n}\n', 3],
    ['{\n  "contexts": {},\n  "current": "a"\n}\n', 3],
  ])("%j is named with its line, and left as it is", async (text, line) => {
    const { file, run, plant } = user()
    plant(text)

    const failed = await run("ps")
    const added = await run(...team)

    expect(failed.stderr).toContain(`${file}, line ${line}: `)
    expect(added.exitCode).toBe(1)
    expect(readFileSync(file, "utf8")).toBe(text)
  })

  test("that is a link, or cannot be read, is not used", async () => {
    const { file, home, run, plant } = user()
    plant("{}")
    chmodSync(file, 0o600)
    const { run: other, plant: plantOther, file: otherFile } = user()
    plantOther("{}")
    await Bun.file(otherFile).delete()
    symlinkSync(join(home, "token"), otherFile)

    expect((await run("context", "list")).exitCode).toBe(0)
    expect((await other("context", "list")).stderr).toContain("is a symbolic link")
  })

  testUnless(
    notRoot,
    "that is another user's, or in that user's directory, is not used",
    async () => {
      const { file, run } = user()
      await run(...team)
      const before = readFileSync(file, "utf8")
      for (const theirs of [[file, join(file, "..")], [join(file, "..")], [file]]) {
        for (const path of [file, join(file, "..")]) chownSync(path, 0, 0)
        for (const path of theirs) chownSync(path, 12_345, 12_345)

        const listed = await run("context", "list")
        const used = await run("ps", "--context", "team")
        const added = await run("context", "add", "more", "--url", "ws://more.example:8003")

        const isTold = expect.stringMatching(/belongs to user|in a directory of user/)
        expect(listed).toMatchObject({ exitCode: 1, stdout: "", stderr: isTold })
        expect(used).toMatchObject({ exitCode: 1, stderr: isTold })
        expect(added).toMatchObject({ exitCode: 1, stderr: isTold })
        expect(readFileSync(file, "utf8")).toBe(before)
      }
    },
  )
})
