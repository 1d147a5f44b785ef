import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appendFileSync, copyFileSync } from "node:fs"
import { join } from "node:path"
import { admitted } from "../support/admitted.ts"
import { auditAttempts, refusalCount } from "../support/audit-lines.ts"
import { BypassGround } from "../support/bypass-ground.ts"
import type { HttpTalk } from "../support/http-talk.ts"
import type { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const ground = new BypassGround()
const { bin, cwd, evil } = ground
const inBin = (name: string) => join(bin, name)
const inCwd = (name: string) => join(cwd, name)
const scripts = ["job", "rewritten", "appended", "shebang", "linked", "by-env", "replaced", "moved"]

let service: Service
let session: RawSession
let http: HttpTalk
let tries = 0

beforeAll(async () => {
  for (const name of scripts) ground.script(inBin(name), "/bin/sh", "echo a script")
  ground.link("/bin/sh", join(ground.folder, "interpreter"))
  ground.script(inBin("linked"), join(ground.folder, "interpreter"), "echo a script")
  ground.script(inBin("by-env"), "/usr/bin/env planted-later", "echo a script")
  ground.link("/bin/sh", join(ground.folder, "planted-later"))
  const allowed = ["echo", ...scripts].join(",")
  service = await Service.start({
    flags: { "allowed-commands": allowed },
    env: { PATH: `${bin}:${ground.folder}:${process.env["PATH"]}` },
    cwd,
  })
  ;({ session, http } = await admitted(service))
})

afterAll(async () => {
  session[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
  ground[Symbol.dispose]()
})

type Attempt = [title: string, params: unknown, prepare?: () => void]

const shellSyntax: Attempt[] = [
  ["a second command", { command: `echo hi; ${evil}` }],
  ["a command substitution", { command: `echo $(${evil})` }],
  ["a quoted command substitution", { command: `echo "$(${evil})"` }],
  ["backticks", { command: `echo \`${evil}\`` }],
  ["a pipe", { command: `echo hi | ${evil}` }],
  ["an and", { command: `echo hi && ${evil}` }],
  ["a background job", { command: `echo hi & ${evil}` }],
  ["a redirection", { command: `echo hi > ${inCwd("written")}` }],
  ["an assignment before it", { command: "PATH=/tmp echo hi" }],
  ["a newline", { command: `echo hi\n${evil}` }],
  ["a carriage return", { command: `echo hi\r${evil}` }],
  ["an escaped newline", { command: `echo hi\\\n${evil}` }],
  ["a NUL", { command: `echo hi\0; ${evil}` }],
  ["a tab", { command: "echo\thi" }],
  ["an escape character", { command: "echo \u001b]0;hi\u0007" }],
  ["a line separator", { command: `echo hi\u2028${evil}` }],
  ["the shell on request", { command: evil, shell: true }],
  ["the shell for an allowed command", { command: "echo hi", shell: true }],
  ["an open quote", { command: `echo 'hi; ${evil}` }],
]

const lookAlikes: Attempt[] = [
  ["a Cyrillic letter", { command: "есho hi" }, () => ground.plant(inBin("есho"))],
  ["a Cyrillic letter in argv", { argv: ["есho", "hi"] }],
  ["a full-width letter", { argv: ["ｅcho", "hi"] }, () => ground.plant(inBin("ｅcho"))],
  ["a full-width semicolon", { command: `echo hi； ${evil}` }],
  ["a full-width dollar and brackets", { command: `echo ＄（${evil}）` }],
  ["a full-width pipe", { command: `echo hi ｜ ${evil}` }],
  ["a Greek question mark", { command: `echo hi\u037e ${evil}` }],
  ["a zero-width space", { argv: ["echo\u200b"] }, () => ground.plant(inBin("echo\u200b"))],
  ["a no-break space", { command: "echo\u00a0hi" }],
]

const places: Attempt[] = [
  ["./echo in a writable directory", { argv: ["./echo"], cwd }, () => ground.plant(inCwd("echo"))],
  ["./echo on a command line", { command: "./echo hi", cwd }],
  ["a relative path", { argv: ["cwd/echo"], cwd: ground.folder }],
  ["a relative path that goes up", { argv: ["../cwd/echo"], cwd }],
  ["an absolute path that goes up", { argv: [`/bin/../${inCwd("echo")}`] }],
  ["an absolute path with a dot", { argv: ["/bin/./echo"] }],
  ["a doubled slash", { argv: ["//bin/echo"] }],
  ["a file of the same name", { argv: [inCwd("echo")] }],
  [
    "a link of the same name",
    { argv: [join(ground.links, "echo")] },
    () => ground.link(evil, join(ground.links, "echo")),
  ],
  [
    "a link of another name to an allowed program",
    { argv: [inCwd("other")] },
    () => ground.link("/bin/echo", inCwd("other")),
  ],
  ["a command that is not on the list", { argv: [evil] }],
  ["env", { argv: ["env", evil] }],
  ["env on a command line", { command: `env ${evil}` }],
  ["bash -c", { argv: ["bash", "-c", evil] }],
  ["sh by its path", { argv: ["/bin/sh", "-c", evil] }],
  ["an interpreter of an allowed script", { argv: ["sh", evil] }],
  ["the dynamic linker", { argv: ["/lib64/ld-linux-x86-64.so.2", "/bin/sh", "-c", evil] }],
]

const names: Attempt[] = [
  ["a login shell's name", { argv: ["-bash"] }],
  ["a space before it", { argv: [" echo"] }],
  ["a space behind it", { argv: ["echo "] }],
  ["other letters", { argv: ["ECHO"] }, () => ground.plant(inBin("ECHO"))],
  ["no name", { argv: [""] }],
  ["only a slash", { argv: ["/"] }],
  ["a slash behind it", { argv: ["/bin/echo/"] }],
  ["a NUL behind it", { argv: [`echo\0${evil}`] }],
  ["a newline in it", { argv: ["echo\n"] }],
  ["no words", { command: "  " }],
]

const environments: Attempt[] = [
  ["PATH", { argv: ["echo"], env: { PATH: cwd } }],
  ["LD_PRELOAD", { argv: ["echo"], env: { LD_PRELOAD: evil } }],
  ["LD_AUDIT", { argv: ["echo"], env: { LD_AUDIT: evil } }],
  ["BASH_ENV", { argv: ["job"], env: { BASH_ENV: evil } }],
  ["ENV", { argv: ["job"], env: { ENV: evil } }],
  ["an exported function", { argv: ["job"], env: { "BASH_FUNC_echo%%": `() { ${evil}; }` } }],
  ["HOME", { argv: ["job"], env: { HOME: cwd } }],
  ["GLIBC_TUNABLES", { argv: ["echo"], env: { GLIBC_TUNABLES: "x" } }],
  ["PYTEST_ADDOPTS", { argv: ["echo"], env: { PYTEST_ADDOPTS: "-p evil" } }],
  ["a variable nobody knows", { argv: ["echo"], env: { SOMETHING: "1" } }],
  ["a locale that is a file", { argv: ["echo"], env: { LANGUAGE: "../../tmp/evil" } }],
  ["a width that is a command", { argv: ["job"], env: { COLUMNS: `x[$(${evil})]` } }],
  ["a value with a NUL", { argv: ["echo"], env: { A: "x\0y" } }],
  ["a name with an equals sign", { argv: ["echo"], env: { "A=B": "x" } }],
]

const shapes: Attempt[] = [
  ["a command that is an object", { command: { toString: "echo" } }],
  ["a command that is a list", { command: ["echo", "hi"] }],
  ["a command that is a number", { command: 42 }],
  ["a command that is null", { command: null }],
  ["no command at all", {}],
  ["an argv that is a text", { argv: `echo ${evil}` }],
  ["an argv that is an object", { argv: { 0: "echo", length: 1 } }],
  ["an argv of lists", { argv: [["echo"]] }],
  ["an argv with a number", { argv: ["echo", 1] }],
  ["an empty argv", { argv: [] }],
  ["both command and argv", { command: "echo hi", argv: [evil] }],
  ["a shell that is a text", { command: "echo hi", shell: "/bin/sh" }],
  ["a shell with argv", { argv: ["echo"], shell: true }],
  ["an env that is a list", { argv: ["echo"], env: ["LD_PRELOAD=x"] }],
  ["an env with a number", { argv: ["echo"], env: { A: 1 } }],
  ["a cwd that is a number", { argv: ["echo"], cwd: 5 }],
  ["a cwd with a NUL", { argv: ["echo"], cwd: "/tmp\0/etc" }],
  ["a megabyte of arguments", { argv: ["echo", "x".repeat(1_000_000)] }],
  ["a megabyte in many arguments", { argv: ["echo", ...Array(10_000).fill("x".repeat(100))] }],
  ["a megabyte of command", { command: `echo ${"x".repeat(1_000_000)}` }],
  ["a megabyte of environment", { argv: ["echo"], env: { A: "x".repeat(1_000_000) } }],
]

const swaps: Attempt[] = [
  ["a script that was rewritten", { argv: ["rewritten"] }, () => ground.plant(inBin("rewritten"))],
  [
    "a script that was added to",
    { command: "appended" },
    () => appendFileSync(inBin("appended"), `${evil}\n`),
  ],
  [
    "a script with another interpreter",
    { argv: ["shebang"] },
    () => ground.script(inBin("shebang"), evil, ""),
  ],
  [
    "an interpreter that is another link",
    { argv: ["linked"] },
    () => ground.link(evil, join(ground.folder, "interpreter")),
  ],
  [
    "an interpreter planted before the real one",
    { argv: ["by-env"] },
    () => ground.plant(inBin("planted-later")),
  ],
  [
    "a program that is another file, of the same size and time",
    { argv: ["replaced"] },
    () => copyFileSync(evil, inBin("replaced")),
  ],
  [
    "a program that is a link now",
    { argv: ["moved"] },
    () => void ground.link(evil, inBin("moved")),
  ],
  [
    "a program planted before the real one",
    { argv: ["echo", "hi"] },
    () => ground.plant(inBin("echo")),
  ],
]

const doors: [string, (params: unknown) => Promise<{ code: number; reason: unknown }>][] = [
  [
    "WebSocket",
    async (params) => {
      tries += 1
      const { code, data } = await session.refused("execute", params)
      return { code, reason: data.reason }
    },
  ],
  [
    "HTTP",
    (params) => {
      tries += 1
      return http.refused("POST", "/executions", params)
    },
  ],
]

describe.each(doors)("with an allow-list, over %s", (_, refusal) => {
  const attempts = [shellSyntax, lookAlikes, places, names, environments, shapes].flat()
  test.each(attempts)("%s is refused and runs nothing", async (_title, params, prepare) => {
    prepare?.()

    const refused = await refusal(params)

    expect(refused).toMatchObject({ code: -32602, reason: "SECURITY_DENIED" })
    expect(ground.hasTrace).toBe(false)
    expect((await session.call("list", {})).executions).toEqual([])
  })
})

describe("with an allow-list, beside all that", () => {
  test("what is on it runs, as a line and as words, with a variable, over both doors", async () => {
    const allowed = [
      { command: "echo hi" },
      { argv: ["echo", "hi"] },
      { argv: ["/bin/echo", "hi"], env: { LANG: "C" }, cwd: ground.folder },
    ]
    for (const params of allowed) expect((await session.run(params)).stdout).toBe("hi\n")
    for (const name of ["job", "linked", "by-env"])
      expect((await session.run({ argv: [name] })).stdout).toBe("a script\n")
    for (const params of allowed)
      expect((await http.ask("POST", "/executions", params)).status).toBe(201)
  })
})

describe.each(doors)("after the policy was read, over %s", (_, refusal) => {
  test.each(swaps)("%s is refused and runs nothing", async (_title, params, swap) => {
    const before = (await session.call("list", {})).executions.length
    swap?.()

    const refused = await refusal(params)

    expect(refused).toMatchObject({ code: -32602, reason: "SECURITY_DENIED" })
    expect(ground.hasTrace).toBe(false)
    expect((await session.call("list", {})).executions).toHaveLength(before)
  })
})

test("every one of these attempts has its line in the audit trail", async () => {
  expect(tries).toBeGreaterThan(150)
  await until("the lines of all of them", () => {
    return refusalCount(service.stateDir, "SECURITY_DENIED") === tries
  })
  const refused = auditAttempts(service.stateDir).filter(({ outcome }) => outcome === "refused")
  expect(new Set(refused.map(({ principal, method }) => `${principal} ${method}`))).toEqual(
    new Set(["admitted execute"]),
  )
})
