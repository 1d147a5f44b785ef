import { describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { withHome } from "../../scripts/build/installer.ts"
import { sha256 } from "../../scripts/build/sha256.ts"
import { checksumLine, type Files, ReleaseServer } from "../support/release-server.ts"
import { fewIfShort } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const script = join(import.meta.dir, "../../install.sh") // as in docs/install.md
const released = `cc-executor-linux-${process.arch === "arm64" ? "arm64" : "x64"}`
const standIn = '#!/bin/sh\necho "cc-executor 9.9.9 (stand-in)"\n'
const goodSum = checksumLine(released, standIn)
const good: Files = { [released]: standIn, SHA256SUMS: goodSum }

const needed = "uname getconf grep mktemp mkdir mv rm chmod awk sha256sum".split(" ")

/** A machine with nothing on its PATH but what a test gives it. */
class Machine implements Disposable {
  readonly #folder = temporaryFolder()
  readonly home = join(this.#folder.path, "home of a user")
  readonly bin = join(this.home, ".local/bin")
  readonly #tools = join(this.#folder.path, "tools")
  readonly shell: string[]

  /** `fakes` are scripts that stand for tools. */
  constructor(
    options: { shell?: string[]; tools?: string[]; fakes?: Record<string, string> } = {},
  ) {
    const { shell = ["/bin/sh"], tools = [...needed, "curl"], fakes = {} } = options
    this.shell = shell
    mkdirSync(this.home)
    mkdirSync(this.#tools)
    for (const tool of tools) {
      const real = shell[0]?.endsWith("busybox") === true ? shell[0] : Bun.which(tool)
      if (real !== null && fakes[tool] === undefined) symlinkSync(real, join(this.#tools, tool))
    }
    for (const [tool, text] of Object.entries(fakes)) {
      writeFileSync(join(this.#tools, tool), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    }
  }

  start(env: Record<string, string>, file = script) {
    return Bun.spawn([...this.shell, file], {
      env: { PATH: this.#tools, HOME: this.home, ...env },
      detached: true, // a group of its own, as in a terminal
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
  }

  async install(env: Record<string, string>, file = script) {
    const run = this.start(env, file)
    const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()])
    return { exitCode: await run.exited, stdout, stderr }
  }

  /** Everything in the directory that it installs to. */
  get installed(): string[] {
    return existsSync(this.bin) ? readdirSync(this.bin) : []
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}

describe("installing a real build", () => {
  const shells: [string, string[], string[], string | null][] = [
    ["dash, with curl", ["/usr/bin/dash"], [...needed, "curl"], missing("dash", "curl")],
    ["busybox", ["/usr/bin/busybox", "sh"], [...needed, "wget"], missing("busybox")],
    ["dash, with wget", ["/usr/bin/dash"], [...needed, "wget"], missing("dash", "wget")],
  ]
  for (const [name, shell, tools, obstacle] of fewIfShort(1, shells)) {
    testUnless(
      obstacle,
      `with nothing but ${name}: it runs, and nothing else is left`,
      async () => {
        using machine = new Machine({ shell, tools })
        const sums = `${await sha256(executable)}  ${released}\n`
        await using server = new ReleaseServer({
          [released]: Bun.file(executable),
          SHA256SUMS: sums,
        })

        const run = await machine.install({ CC_EXECUTOR_BASE_URL: server.url })

        expect(run).toMatchObject({ exitCode: 0, stderr: "" })
        expect(machine.installed).toEqual(["cc-executor"])
        const program = join(machine.bin, "cc-executor")
        expect(Bun.spawnSync([program, "version"]).stdout.toString()).toMatch(/^cc-executor \d/)
        expect(run.stdout).toContain(`installed cc-executor`)
        expect(run.stdout).toContain(`${machine.bin} is not in your PATH`)
        expect(run.stdout).toContain(`rm ${machine.bin}/cc-executor`)
      },
    )
  }
})

describe("what is there already", () => {
  test("is replaced by a release that is right, in a directory of one's choice", async () => {
    using machine = new Machine()
    await using server = new ReleaseServer(good)
    const directory = join(machine.home, "bin")
    mkdirSync(directory)
    writeFileSync(join(directory, "cc-executor"), "old")
    const path = `${directory}:${process.env["PATH"]}`
    const env = { CC_EXECUTOR_BASE_URL: `${server.url}/`, CC_EXECUTOR_INSTALL_DIR: directory }

    const run = await machine.install({ ...env, PATH: path })

    expect(run).toMatchObject({ exitCode: 0, stderr: "" })
    expect(readFileSync(join(directory, "cc-executor"), "utf8")).toBe(standIn)
    expect(run.stdout).toContain("is in your PATH")
    expect(machine.installed).toEqual([])
  })

  const one = { [released]: standIn }
  test.each<[string, Files, string]>([
    ["a program that was changed", { ...good, [released]: `${standIn}#` }, "SHA256SUMS says"],
    ["a program that is empty", { ...good, [released]: "" }, "SHA256SUMS says"],
    ["a program that is missing", { SHA256SUMS: goodSum }, "could not be downloaded"],
    [
      "a download that breaks off",
      { ...good, [released]: { breaks: "cut" } },
      "could not be downloaded",
    ],
    ["checksums that are missing", one, "SHA256SUMS could not be downloaded"],
    ["no checksum of it", { ...one, SHA256SUMS: checksumLine("other", "") }, "does not name"],
    [
      "a checksum of its bill alone",
      { ...one, SHA256SUMS: checksumLine(`${released}.cdx.json`, standIn) },
      "does not name",
    ],
    ["a checksum that is none", { ...one, SHA256SUMS: `x$(id)  ${released}\n` }, "no checksum"],
    [
      "two checksums of it",
      { ...one, SHA256SUMS: `${goodSum}${checksumLine(released, "")}` },
      "no checksum",
    ],
    ["a program that does not run", broken("#!/bin/sh\nexit 3\n"), "does not run here"],
    ["a program for another machine", broken("\x7fELF\x02\x01\x01"), "does not run here"],
  ])("stays, and nothing else is left: %s", async (_, files, why) => {
    using machine = new Machine()
    await using server = new ReleaseServer(files)
    mkdirSync(machine.bin, { recursive: true })
    writeFileSync(join(machine.bin, "cc-executor"), "old")

    const run = await machine.install({ CC_EXECUTOR_BASE_URL: server.url })

    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain(why)
    expect(run.stderr).toContain("Nothing was installed.")
    expect(readFileSync(join(machine.bin, "cc-executor"), "utf8")).toBe("old")
    expect(machine.installed).toEqual(["cc-executor"])
  })

  test.each(["SIGINT", "SIGTERM"] as const)("stays, when %s comes", async (signal) => {
    using machine = new Machine()
    await using server = new ReleaseServer({ ...good, [released]: { breaks: "stall" } })
    const run = machine.start({ CC_EXECUTOR_BASE_URL: server.url })
    await until("the program is asked for", () => server.asked.includes(released))

    process.kill(-run.pid, signal)

    expect(await run.exited).not.toBe(0)
    expect(machine.installed).toEqual([])
  })
})

describe("a machine on which it cannot be", () => {
  test.each<[string, ConstructorParameters<typeof Machine>[0], string]>([
    [
      "macOS",
      { fakes: { uname: "echo Darwin" } },
      "this is macOS, and cc-executor runs on Linux only",
    ],
    ["another system", { fakes: { uname: "echo FreeBSD" } }, "this is FreeBSD"],
    ["another processor", { fakes: unameOf("riscv64") }, "no cc-executor for riscv64"],
    ["no curl and no wget", { tools: needed }, "curl or wget is needed"],
    [
      "nothing to check with",
      { tools: [...needed.filter((tool) => tool !== "sha256sum"), "curl"] },
      "sha256sum or openssl is needed",
    ],
  ])("is told so: %s", async (_, options, why) => {
    using refused = new Machine(options)
    await using server = new ReleaseServer(good)

    const run = await refused.install({ CC_EXECUTOR_BASE_URL: server.url })

    expect(run).toMatchObject({ exitCode: 1, stdout: "" })
    expect(run.stderr).toContain(why)
    expect(server.asked).toEqual([])
    expect(refused.installed).toEqual([])
  })

  test.each<[string, Record<string, string>, string]>([
    ["plain http", { CC_EXECUTOR_BASE_URL: "http://mirror.example.net/x" }, "is not https"],
    ["no http at all", { CC_EXECUTOR_BASE_URL: "127.0.0.1" }, "is not https"],
    ["a name like loopback's", { CC_EXECUTOR_BASE_URL: "http://localhost.example.net" }, "is not"],
    ["no address", {}, "this copy does not say where releases are"],
    [
      "a relative directory",
      { CC_EXECUTOR_BASE_URL: "https://x.invalid", CC_EXECUTOR_INSTALL_DIR: "bin" },
      "absolute",
    ],
    ["no home", { CC_EXECUTOR_BASE_URL: "https://x.invalid", HOME: "" }, "HOME is not set"],
  ])("nor is it asked for where it should not be: %s", async (_, env, why) => {
    using machine = new Machine()
    const run = await machine.install(env)
    expect(run).toMatchObject({ exitCode: 1, stdout: "" })
    expect(run.stderr).toContain(why)
  })

  testUnless(
    process.arch === "x64" ? null : "needs x64",
    "gets the executable for arm64, or for old processors, by what it is",
    async () => {
      await using server = new ReleaseServer({})
      const env = { CC_EXECUTOR_BASE_URL: server.url }
      using arm = new Machine({ fakes: unameOf("aarch64") })
      using old = new Machine({ fakes: { grep: "exit 1" } }) // no avx2 in /proc/cpuinfo

      const runs = [await arm.install(env), await old.install(env)]

      const asked = runs.map(({ stdout }) => /downloading (\S+) from/.exec(stdout)?.[1])
      expect(asked).toEqual(["cc-executor-linux-arm64", "cc-executor-linux-x64-baseline"])
    },
  )
})

describe("the installer of a release", () => {
  const home = "https://127.0.0.1:1/owner/name"

  test.each([
    [{}, `${home}/releases/latest/download`],
    [{ CC_EXECUTOR_VERSION: "1.2.3" }, `${home}/releases/download/v1.2.3`],
    [{ CC_EXECUTOR_VERSION: "v1.2.3" }, `${home}/releases/download/v1.2.3`],
  ])("knows where releases are: %p", async (env, address) => {
    using machine = new Machine()
    const stamped = join(machine.home, "install.sh")
    writeFileSync(stamped, withHome(readFileSync(script, "utf8"), home))

    const run = await machine.install(env, stamped)

    expect(run.stdout).toContain(`from ${address}\n`)
    expect(run.exitCode).toBe(1) // nobody is there
  })

  test.each(["http://x/y", "https://x/y'; id; '", "https://x/$(id)", "x"])(
    "is not made for %s",
    (bad) => {
      expect(() => withHome(readFileSync(script, "utf8"), bad)).toThrow(/CC_EXECUTOR_RELEASE_HOME/)
    },
  )

  test("does nothing when only a part of it arrives", async () => {
    using machine = new Machine()
    const part = join(machine.home, "part.sh")
    const whole = readFileSync(script, "utf8")
    writeFileSync(part, whole.slice(0, whole.lastIndexOf("main")))
    await using server = new ReleaseServer(good)

    const run = await machine.install({ CC_EXECUTOR_BASE_URL: server.url }, part)

    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "" })
    expect(server.asked).toEqual([])
  })

  testUnless(missing("shellcheck"), "has nothing that shellcheck would change", async () => {
    const check = Bun.spawn(["shellcheck", "--shell=sh", script], { stdout: "pipe" })
    expect(await check.stdout.text()).toBe("")
    expect(await check.exited).toBe(0)
  })
})

function broken(program: string): Files {
  return { [released]: program, SHA256SUMS: checksumLine(released, program) }
}

function unameOf(name: string): Record<string, string> {
  return { uname: `[ "$1" = -m ] && echo ${name} || echo Linux` }
}

function missing(...programs: string[]): string | null {
  const absent = programs.filter((program) => Bun.which(program) === null)
  return absent.length === 0 ? null : `${absent.join(", ")} is missing`
}
