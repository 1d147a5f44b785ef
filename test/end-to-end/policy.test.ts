import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { admitted } from "../support/admitted.ts"
import { BypassGround } from "../support/bypass-ground.ts"
import type { RawSession } from "../support/raw-session.ts"
import { fewIfShort } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const ground = new BypassGround()
const work = join(ground.folder, "work")
const policyFile = join(ground.folder, "policy.yaml")
const denied = { code: -32602, data: { reason: "SECURITY_DENIED" } }

const policy = `
commands:
  echo: hi, "good day"
  env: any
  pwd: [-P]
  ${join(ground.bin, "job")}:
    never: ["-c", "--output*"]
directories: [${work}]
environment: [CI, "BUILD_*"]
inherit: [API_KEY]
`

beforeAll(() => {
  mkdirSync(join(work, "inner"), { recursive: true })
  symlinkSync("/", join(work, "out"))
  ground.script(join(ground.bin, "job"), "/bin/sh", "echo did $*")
})
afterAll(() => ground[Symbol.dispose]())

function serviceWith(text: string, flags: Record<string, string> = {}, mode = 0o600): Service {
  writeFileSync(policyFile, text)
  chmodSync(policyFile, mode)
  const env = { API_KEY: "for children", SECRET: "for nobody", LANG: "C.UTF-8" }
  return new Service({ flags: { "policy-file": policyFile, ...flags }, env, cwd: work })
}

async function sessionOf(service: Service): Promise<RawSession> {
  return (await admitted(service)).session
}

describe("under a policy file", () => {
  let service: Service
  let session: RawSession
  beforeAll(async () => {
    service = serviceWith(policy)
    session = await sessionOf(service)
  })
  afterAll(async () => {
    session[Symbol.dispose]()
    await service[Symbol.asyncDispose]()
  })

  test("arguments must begin as it says, and must not contain what it forbids", async () => {
    expect((await session.run({ command: "echo good day sir" })).stdout).toBe("good day sir\n")
    const job = join(ground.bin, "job")
    expect((await session.run({ argv: [job, "x"] })).stdout).toBe("did x\n")

    for (const params of [
      { command: "echo good night" },
      { argv: ["echo"] },
      { argv: ["echo", "good day"] },
      { argv: [job, "-c"] },
      { argv: [job, "x", "--output=y"] },
    ])
      expect(await session.refused("execute", params)).toMatchObject(denied)
  })

  test("an execution starts in the directories, where they really are", async () => {
    const inner = join(work, "inner")
    for (const cwd of [inner, "inner", `${work}/inner/../inner`])
      expect((await session.run({ argv: ["pwd", "-P"], cwd })).stdout).toBe(`${inner}\n`)
    expect((await session.run({ argv: ["pwd", "-P"] })).stdout).toBe(`${work}\n`)

    for (const cwd of ["/", ground.folder, "..", join(work, "out"), join(work, "out/tmp")])
      expect(await session.refused("execute", { argv: ["pwd", "-P"], cwd })).toMatchObject(denied)
  })

  test("only the variables it names may be set, beside those that are so anyway", async () => {
    const env = { CI: "1", BUILD_ID: "7", LANG: "C.UTF-8" }
    const { stdout } = await session.run({ argv: ["env"], env })

    expect(stdout).toContain("CI=1\n")
    expect(stdout).toContain("BUILD_ID=7\n")
    for (const name of ["OTHER", "LANG", "LD_PRELOAD", "PATH"]) {
      const params = { argv: ["env"], env: { [name]: "x" } }
      expect(await session.refused("execute", params)).toMatchObject(denied)
    }
  })

  test("children get a base set and what it passes on, nothing else of the service", async () => {
    const { stdout } = await session.run({ argv: ["env"] })
    const names = stdout.split("\n").map((line) => line.slice(0, line.indexOf("=")))

    expect(names).toContain("PATH")
    expect(stdout).toContain("API_KEY=for children\n")
    expect(stdout).not.toContain("for nobody")
  })

  test("the greeting says that a list rules", async () => {
    expect(await session.heard("connected")).toMatchObject({ policy: "allow-list" })
  })

  test("the command line sends what was named, and nothing of its own environment", async () => {
    const run = async (...args: string[]) => {
      const cli = [executable, "run", "--state-dir", service.stateDir, ...args]
      const child = Bun.spawn(cli, {
        cwd: work,
        env: { ...process.env, FROM_SHELL: "1" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      })
      return { text: await child.stdout.text(), exitCode: await child.exited }
    }

    const ran = await run("--env", "CI=yes", "--", "env")

    expect(ran.exitCode).toBe(0)
    expect(ran.text).toContain("CI=yes\n")
    expect(ran.text).not.toContain("FROM_SHELL")
    expect((await run("--env", "FROM_SHELL", "--", "env")).exitCode).toBe(125)
  })
})

describe("SIGHUP", () => {
  test("reads the policy and its programs again, and keeps the old one if that fails", async () => {
    await using service = serviceWith(policy)
    using session = await sessionOf(service)
    const job = join(ground.bin, "job")
    appendFileSync(job, "echo and more\n")
    expect(await session.refused("execute", { argv: [job, "x"] })).toMatchObject(denied)

    service.kill("SIGHUP")
    await until("it is read again", () => saidAgain(service, "policy reloaded"))
    expect((await session.run({ argv: [job, "x"] })).stdout).toBe("did x\nand more\n")

    writeFileSync(policyFile, "commands: [echo]\n")
    service.kill("SIGHUP")
    await until("it is not read", () => saidAgain(service, "the old one stays in force"))
    expect((await session.run({ argv: [job, "x"] })).stdout).toBe("did x\nand more\n")
    expect(await session.refused("execute", { argv: ["true"] })).toMatchObject(denied)
  })
})

function saidAgain(service: Service, text: string): true | undefined {
  return service.log.some((line) => line.includes(text)) || undefined
}

describe("an execution that waits for a place", () => {
  test("is decided about again when its turn comes", async () => {
    const job = ground.script(join(ground.bin, "waits"), "/bin/sh", "echo as it was")
    const flags = { "allowed-commands": `cat,${job}`, "max-executions": "1" }
    await using service = await Service.start({ flags })
    using session = await sessionOf(service)
    const first = await session.call("execute", { argv: ["cat"], stdin: "pipe" })
    const second = await session.call("execute", { argv: [job] })
    expect(second.status).toBe("queued")

    ground.plant(job)
    await session.call("input", { execution_id: first.execution_id, data: "", end: true })
    const ended = await session.heard("process.completed", second.execution_id)

    expect(ended).toMatchObject({ outcome: "failed-to-start", exit_code: null })
    expect(ground.hasTrace).toBe(false)
  })
})

describe("a service does not start", () => {
  async function refusalOf(service: Service): Promise<string> {
    await using ending = service
    expect(await ending.exited).toBe(1)
    return ending.said.join("\n")
  }

  const wrong: [string, string, string][] = [
    ["is not YAML", "commands: [", "cannot be used"],
    ["names no commands", "directories: [/tmp]", "names no commands"],
    ["has a command without a rule", "commands:\n  echo:", "commands → echo"],
    ["names a directory that is not there", policy.replace(work, "/no/such"), "/no/such"],
    ["has a key nobody knows", "comands:\n  echo: any", "comands"],
    ["has a command by a relative path", "commands:\n  ./echo: any", "commands"],
    ["says a command twice", "commands:\n  echo: hi\n  echo: any", "echo is listed twice"],
  ]
  test.each(fewIfShort(4, wrong))("with a policy file that %s", async (_, text, why) => {
    expect(await refusalOf(serviceWith(text))).toContain(why)
  })

  test("with commands in both places, which contradict each other", async () => {
    const said = await refusalOf(serviceWith(policy, { "allowed-commands": "echo" }))
    expect(said).toContain("conflict: use only one of them")
  })

  test("with a policy file that others may write", async () => {
    for (const mode of [0o620, 0o602]) {
      expect(await refusalOf(serviceWith(policy, {}, mode))).toContain("is writable by")
    }
  })

  test("with a policy file that is not there", async () => {
    const service = new Service({ flags: { "policy-file": "/no/such/policy.yaml" } })
    expect(await refusalOf(service)).toContain("ENOENT")
  })
})

describe("a list that names what is not there", () => {
  test("is taken with a warning; what comes later is refused until it is read again", async () => {
    const later = join(ground.bin, "later")
    await using service = await Service.start({ flags: { "allowed-commands": later } })
    using session = await sessionOf(service)
    expect(service.said.join("\n")).toContain("later is allowed but refused for now")

    ground.script(later, "/bin/sh", "echo here")
    expect(await session.refused("execute", { argv: [later] })).toMatchObject(denied)
    service.kill("SIGHUP")
    await until("it is read again", () => saidAgain(service, "policy reloaded"))
    expect((await session.run({ argv: [later] })).stdout).toBe("here\n")
  })
})

describe("a path that leads to an allowed program", () => {
  test("does not become its name: beside that, an interpreter looks for its library", async () => {
    const own = ground.link("/bin/sh", join(ground.links, "sh"))
    await using service = await Service.start({ flags: { "allowed-commands": "/bin/sh" } })
    using session = await sessionOf(service)

    const { stdout } = await session.run({ argv: [own, "-c", "echo $0; cat /proc/$$/cmdline"] })

    expect(stdout).toStartWith("/bin/sh\n/bin/sh\0-c\0")
  })
})
