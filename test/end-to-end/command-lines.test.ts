import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { admitted } from "../support/admitted.ts"
import { Bystanders } from "../support/bystanders.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing } from "../support/tokens.ts"

const timeoutMs = 60_000

describe("a command line without shell syntax", () => {
  const lines: [string, string[]][] = [
    [`echo 'a b' "c d" e\\ f`, ["echo", "a b", "c d", "e f"]],
    [`echo "|" '&' ";" \\> '<' "(" ')' '*' "?" '[' "{" '$HOME' '\`id\`'`, expectedOperators()],
    [`echo a"b c"d 'e'\\''f'`, ["echo", "ab cd", "e'f"]],
    ["echo '' \"\" x", ["echo", "", "", "x"]],
    ["  echo \t spaced   out  ", ["echo", "spaced", "out"]],
    ["echo a~b a#b x=y ] }", ["echo", "a~b", "a#b", "x=y", "]", "}"]],
    ["echo 'two\nlines'", ["echo", "two\nlines"]],
    [String.raw`echo "a\"b" "c\\d" "e\f" '\n'`, ["echo", 'a"b', String.raw`c\d`, "e\\f", "\\n"]],
    ["echo \u00e9\u{1F600}\u00a0x", ["echo", "\u00e9\u{1F600}\u00a0x"]],
  ]

  test(
    "is split as a shell would split it, and runs directly",
    async () => {
      await using service = await Service.start()
      using session = await RawSession.open(await service.url())
      for (const [command, argv] of lines) {
        const direct = await session.run({ command })
        const status = await session.call("status", { execution_id: direct.id })
        const inShell = await session.run({ command, shell: true })

        expect(status).toMatchObject({ command, argv, shell: false })
        expect(direct.stdout).toBe(inShell.stdout)
      }
    },
    timeoutMs,
  )
})

describe("a command line with shell syntax", () => {
  const lines: [string, string][] = [
    ["echo hi | tr a-z A-Z", "HI\n"],
    ["echo a; echo b", "a\nb\n"],
    ["true && echo yes", "yes\n"],
    ["echo a\necho b", "a\nb\n"],
    ["echo hidden > /dev/null", ""],
    ["(echo sub)", "sub\n"],
    ["echo $((6*7))", "42\n"],
    ['echo "$(echo inner)"', "inner\n"],
    ["echo `echo old`", "old\n"],
    ["GREETING=hello printenv GREETING", "hello\n"],
    ["echo a # b", "a\n"],
    ["echo /bin/[e]cho /bin/ech?", "/bin/echo /bin/echo\n"],
    ["echo {1,2}", "1 2\n"],
    ["echo ~root", "/root\n"],
    ["echo a\\\nb", "ab\n"],
  ]

  test(
    "runs in the shell",
    async () => {
      await using service = await Service.start({ flags: { shell: "/bin/bash" } })
      using session = await RawSession.open(await service.url())
      for (const [command, stdout] of lines) {
        const run = await session.run({ command })
        const status = await session.call("status", { execution_id: run.id })

        expect(status).toMatchObject({ argv: ["/bin/bash", "-c", command], shell: true })
        expect({ command, stdout: run.stdout }).toEqual({ command, stdout })
      }
    },
    timeoutMs,
  )
})

describe("with an allow-list of echo and cat", () => {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-allowed-"))
  let bystanders: Bystanders
  let session: RawSession

  beforeAll(async () => {
    symlinkSync("/usr/bin/id", join(folder, "echo"))
    copyFileSync("/usr/bin/id", join(folder, "cat"))
    symlinkSync("/bin/echo", join(folder, "speak"))
    writeFileSync(join(folder, "run.sh"), "#!/bin/sh\nid\n", { mode: 0o755 })
    bystanders = await Bystanders.start({ env: { ALLOWED_COMMANDS: "echo,cat" } })
    session = bystanders.session
  })

  afterAll(async () => {
    await bystanders[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  test("they run, by name and by any plain path that leads to them", async () => {
    for (const argv of [
      ["echo", "hi"],
      ["/bin/echo", "hi"],
      ["/usr/bin/echo", "hi"],
    ]) {
      expect((await session.run({ argv })).stdout).toBe("hi\n")
    }
    expect((await session.run({ command: "echo '; id'" })).stdout).toBe("; id\n")
    expect((await session.run({ argv: ["echo", "x"], env: { LANG: "C" } })).stdout).toBe("x\n")
  })

  const refused: [string, object][] = [
    ["another program", { argv: ["id"] }],
    ["a program that is not there", { argv: ["no-such-program"] }],
    ["an allowed program by a winding path", { argv: ["/usr/bin/../bin/echo", "hi"] }],
    ["another program by a winding path", { argv: ["/bin/../bin/id"] }],
    ["another command after an allowed one", { command: "echo hi; id" }],
    ["a substitution", { command: "echo $(id)" }],
    ["a substitution in quotes", { command: 'echo "`id`"' }],
    ["a second line", { command: "echo hi\nid" }],
    ["a second line by a carriage return", { command: "echo hi\rid" }],
    ["a redirection", { command: "echo hi > /tmp/cc-executor-should-not-be" }],
    ["an assignment", { command: "PATH=/tmp echo hi" }],
    ["the shell, though the command is allowed", { command: "echo hi", shell: true }],
    ["the shell by name", { argv: ["/bin/sh", "-c", "echo hi"] }],
    ["a link of an allowed name to another program", { argv: ["./echo"], cwd: folder }],
    ["the same by its path", { argv: [join(folder, "echo")] }],
    ["a copy under an allowed name", { argv: ["./cat"], cwd: folder }],
    ["an allowed program under another name", { argv: ["./speak", "hi"], cwd: folder }],
    ["a script", { argv: ["./run.sh"], cwd: folder }],
    ["a PATH of the request's own", { argv: ["echo", "hi"], env: { PATH: folder } }],
    ["a library of its own", { argv: ["echo"], env: { LD_PRELOAD: "/tmp/x.so" } }],
    ["a directory", { argv: ["/bin"] }],
    ["an empty name", { argv: [""] }],
  ]
  test.each(refused)("%s is denied, and nothing runs", async (_, params) => {
    const error = await bystanders.untouchedBy(() => session.refused("execute", params))
    expect(error).toMatchObject({ code: -32602, data: { reason: "SECURITY_DENIED" } })
  })

  test("they are the only ones over HTTP too", async () => {
    const response = await bystanders.untouchedBy(async () =>
      fetch(await bystanders.service.url("/executions"), {
        method: "POST",
        headers: { ...bearing(bystanders.token).headers, "content-type": "application/json" },
        body: JSON.stringify({ command: "echo hi; id" }),
      }),
    )
    expect(response.status).toBe(403)
    const error = { code: -32602, data: { reason: "SECURITY_DENIED" } }
    expect(await response.json()).toMatchObject({ error })
  })
})

describe("with an allow-list that names the shell", () => {
  test("command lines with shell syntax run", async () => {
    await using service = await Service.start({
      flags: { "allowed-commands": "/bin/bash,true", shell: "/bin/bash" },
    })
    using client = await admitted(service)
    const { session } = client

    expect((await session.run({ command: "echo hi | tr a-z A-Z" })).stdout).toBe("HI\n")
    const error = await session.refused("execute", { argv: ["tr", "a", "b"] })
    expect(error.data.reason).toBe("SECURITY_DENIED")
  })
})

function expectedOperators(): string[] {
  return ["echo", "|", "&", ";", ">", "<", "(", ")", "*", "?", "[", "{", "$HOME", "`id`"]
}
