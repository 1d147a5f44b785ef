import { afterAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { BypassGround } from "../support/bypass-ground.ts"
import { executable } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const ground = new BypassGround()
const job = ground.script(join(ground.bin, "job"), "/usr/bin/env sh", "echo hi")
const policyFile = join(ground.folder, "policy.yaml")
writeFileSync(policyFile, `commands:\n  git: status, log\n  ${job}: any\n`, { mode: 0o600 })
afterAll(() => ground[Symbol.dispose]())

async function check(...args: string[]) {
  const child = Bun.spawn([executable, "policy", "check", ...args], {
    cwd: ground.cwd,
    env: { PATH: "/usr/bin:/bin", HOME: ground.folder, SECRET: "x" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { out, error, exitCode: await child.exited }
}

const json = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await check("--json", ...args)).out)

describe("cc-executor policy check", () => {
  test("says that a command is allowed, and what it comes to", async () => {
    const checked = await check("--policy-file", policyFile, "--env", "TZ=UTC", "--", job, "-x")

    expect(checked).toMatchObject({ exitCode: 0, error: "" })
    expect(checked.out).toStartWith("allowed\n")
    expect(checked.out).toContain(`program      ${job}\n`)
    expect(checked.out).toMatch(/^interpreter .*\/env, \/\S+sh$/m)
    expect(checked.out).toContain(`directory    ${ground.cwd}\n`)
    expect(checked.out).toContain("environment  HOME PATH\n")
    expect(checked.out).toContain("added        TZ\n")
  })

  test("says why one is refused, by which rule, and exits with 1", async () => {
    const checked = await check("--policy-file", policyFile, "--", "git", "push")

    expect(checked.exitCode).toBe(1)
    expect(checked.out).toContain("REFUSED: git: its arguments must begin with `status`")
    expect(checked.out).toContain("rule         arguments\n")
  })

  test("decides as the service does, on words, lines, variables and for the shell", async () => {
    const list = ["--allowed-commands", "echo"]
    const allowed = { allowed: true, policy: "allow-list", why: null, rule: null }
    expect(await json(...list, "--", "echo", "hi")).toMatchObject(allowed)
    expect(await json(...list, "--command", "echo hi")).toMatchObject(allowed)
    expect(await json("--", "id")).toMatchObject({ allowed: true, policy: "everything" })

    const refused: [string, string[]][] = [
      ["shell", ["--command", "echo hi; id"]],
      ["shell", ["--shell", "echo hi"]],
      ["line", ["--command", "echo\thi"]],
      ["name", ["--", "./echo"]],
      ["program", ["--", "id"]],
      ["variable", ["--env", "LD_PRELOAD=x", "--", "echo"]],
    ]
    for (const [rule, args] of refused)
      expect(await json(...list, ...args)).toMatchObject({ allowed: false, rule })
  })

  test("says so when there would be no service, or no command to decide about", async () => {
    const missing = await check("--policy-file", "/no/such/file", "--", "git")
    expect(missing).toMatchObject({ exitCode: 2, out: "" })
    expect(missing.error).toContain("ENOENT")
    expect((await check()).exitCode).toBe(2)
    expect((await check("--command", "a", "--", "b")).exitCode).toBe(2)
  })

  testUnless(notRoot, "says as whom it would run", async () => {
    const user = ["--run-as", "65534:65534"]
    const closed = await check(...user, "--cwd", ground.cwd, "--", "true")
    const open = await json(...user, "--cwd", "/", "--", "true")

    expect(closed.exitCode).toBe(1)
    expect(closed.out).toContain("is closed to")
    expect(open).toMatchObject({ allowed: true, run_as: { uid: 65534, gid: 65534 } })
  })
})

describe("cc-executor policy check --tool", () => {
  const rules = join(ground.folder, "rules.yaml")
  const rule = (name: string, command: string, decide: string) =>
    `- name: ${name}\n  tool: Bash\n  input:\n    command: ${command}\n  decide: ${decide}\n`
  const servicePolicy = join(ground.folder, "approval.yaml")
  writeFileSync(servicePolicy, `approval:\n${rule("no-push", "git push.*", "deny")}`, {
    mode: 0o600,
  })
  writeFileSync(rules, rule("tests", "npm test( .*)?", "allow"))
  const given = ["--policy-file", servicePolicy, "--approval", rules]
  const ask = (command: string, ...more: string[]) =>
    check(...given, "--tool", "Bash", "--input", JSON.stringify({ command }), ...more)

  test("says which rule decides, whose it is, and why", async () => {
    const allowed = await ask("npm test")
    expect(allowed).toMatchObject({ exitCode: 0, error: "" })
    expect(allowed.out).toStartWith("allowed\ncommand      npm test\n")
    expect(allowed.out).toContain("rule         tests (of the session) → allow\n")

    const denied = await ask("npm test && git push")
    expect(denied.exitCode).toBe(1)
    expect(denied.out).toStartWith("DENIED: ")
    expect(denied.out).toContain("no-push (of the service) → deny\n")

    const asked = await ask("npm test $(git push)", "--json")
    expect(JSON.parse(asked.out)).toMatchObject({
      decide: "ask",
      rules: [{ name: "no-push", from: "service" }],
      parts: [{ unclear: "the command has a `$` that the shell expands" }],
    })
  })

  test("names the place of what is wrong in a file", async () => {
    writeFileSync(`${rules}.wrong`, rule("a", "b", "allow").replace("decide", "decides"))
    const wrong = await check("--approval", `${rules}.wrong`, "--tool", "Bash")
    expect(wrong).toMatchObject({ exitCode: 2, out: "" })
    expect(wrong.error).toContain("line 5, column 3: 0: unknown: decides; a rule has `name`")
    expect((await check("--approval", "/none", "--tool", "Bash")).error).toContain("ENOENT")
    expect((await check("--approval", rules, "--", "ls")).exitCode).toBe(2)
    expect((await check("--tool", "Bash", "--input", "x")).exitCode).toBe(2)
  })
})
