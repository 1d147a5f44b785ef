import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { settings } from "../src/config/setting-list.ts"
import { readDuration, readSize } from "../src/config/text-form.ts"
import { type Config, type ConfigSources, configWarnings, loadConfig } from "../src/config.ts"

describe("without flags and variables", () => {
  test("the configuration is the documented one", () => {
    expect(load({})).toEqual({
      hosts: ["127.0.0.1", "::1"],
      port: 8003,
      allowUnauthenticatedNetwork: false,
      maxSessions: 100,
      streamTimeoutMs: 300_000,
      maxMessageBytes: 8_388_608,
      shell: null,
      allowedCommands: null,
      containment: "auto",
      maxExecutions: 64,
      maxQueue: 1000,
      wallTimeoutMs: null,
      idleTimeoutMs: null,
      graceMs: 5000,
      lingerMs: 2000,
      disconnectLeaseMs: 10_000,
      limitMemoryBytes: null,
      limitCpus: null,
      limitPids: null,
      budgetBytes: 1_073_741_824,
      budgetLines: null,
      budgetPolicy: "drop-oldest",
      throttleBytesPerSecond: 67_108_864,
      stateDir: "/home/me/.local/state/cc-executor",
      retainAgeMs: 604_800_000,
      retainBytes: 10_737_418_240,
      retainRecordsMs: 7_776_000_000,
      retainKeysMs: 86_400_000,
      diskFloorBytes: 268_435_456,
      ballastBytes: 1_048_576,
      logLevel: "info",
      logFormat: "auto",
      logFile: null,
      logFileBytes: 10_485_760,
      logFiles: 5,
      shutdownGraceMs: 8000,
      exitWhenIdleMs: null,
    })
  })

  test("the state directory is under XDG_STATE_HOME, if that is an absolute path", () => {
    expect(load({ env: { XDG_STATE_HOME: "/x" } }).stateDir).toBe("/x/cc-executor")
    expect(load({ env: { XDG_STATE_HOME: "x" } }).stateDir).toStartWith("/home/me/")
    expect(load({ env: { XDG_STATE_HOME: "" } }).stateDir).toStartWith("/home/me/")
  })
})

describe.each(settings.map((setting) => ({ ...setting })))("$flag", (setting) => {
  const name = setting.flag.slice(2)

  test("its default and its example can be written as they are documented", () => {
    const byDefault = load({})
    expect(load({ flags: { [name]: setting.defaultText } })).toEqual(byDefault)
    expect(load({ env: { [setting.variable]: setting.defaultText } })).toEqual(byDefault)
    expect(loadConfig(sources({ flags: { [name]: setting.example } })).ok).toBe(true)
  })

  test("an empty value is refused, with an example", () => {
    const { variable, allowed, notation, example } = setting
    const what = notation === "" ? allowed : `${allowed}, ${notation}`
    expect(problemsOf({ env: { [variable]: "" } })).toEqual([
      `${variable}: "" is not allowed; allowed is ${what} (for example ${variable}=${example})`,
    ])
  })

  test("is described in one sentence", () => {
    expect(setting.description).toMatch(/^[A-Z].*[^.]\.$/)
  })
})

describe("a setting given in several places", () => {
  const flags = { "max-sessions": "1" }
  const env = { CC_EXECUTOR_MAX_SESSIONS: "2", MAX_SESSIONS: "3" }

  test("a flag comes before its variable", () => {
    expect(load({ flags, env }).maxSessions).toBe(1)
  })

  test("the variable comes before the first generation's name", () => {
    expect(load({ env }).maxSessions).toBe(2)
  })

  test("the first generation's name comes before the default", () => {
    expect(load({ env: { MAX_SESSIONS: "3" } }).maxSessions).toBe(3)
  })

  test("a bad value that is not used is not looked at", () => {
    expect(load({ flags, env: { CC_EXECUTOR_MAX_SESSIONS: "many" } }).maxSessions).toBe(1)
  })
})

describe("an environment of the first generation", () => {
  test("is understood", () => {
    const env = {
      ALLOWED_COMMANDS: "claude, git,/usr/bin/make",
      MAX_SESSIONS: "7",
      MAX_BUFFER_SIZE: "1048576",
      MAX_BUFFER_LINES: "10000",
      STREAM_TIMEOUT: "300",
      LOG_LEVEL: "WARNING",
    }

    expect(load({ env })).toMatchObject({
      allowedCommands: ["claude", "git", "/usr/bin/make"],
      maxSessions: 7,
      budgetBytes: 1_048_576,
      budgetLines: 10_000,
      streamTimeoutMs: 300_000,
      logLevel: "warn",
    })
  })
})

describe("durations and sizes", () => {
  test.each([
    ["300", 300_000],
    ["300s", 300_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["250ms", 250],
    ["1.5h", 5_400_000],
    ["5 M", 300_000],
    ["0", 0],
  ])("%s is %d ms", (text, milliseconds) => expect(readDuration(text)).toBe(milliseconds))

  test.each(["", "5x", "-5", "s", "1h30m", "5,5", "1e3", "0x10", "99999999999999d", "5m\n5"])(
    "%j is no duration",
    (text) => expect(readDuration(text)).toBeUndefined(),
  )

  test.each([
    ["1048576", 1_048_576],
    ["64k", 65_536],
    ["64K", 65_536],
    ["64KB", 65_536],
    ["64KiB", 65_536],
    ["1M", 1_048_576],
    ["1GiB", 1_073_741_824],
    ["1 GiB", 1_073_741_824],
    ["1.5g", 1_610_612_736],
    ["12b", 12],
  ])("%s is %d bytes", (text, bytes) => expect(readSize(text)).toBe(bytes))

  test.each(["", "64q", "64ib", "-1", "k", "1e6", "1M1k", "99999999T"])("%j is no size", (text) =>
    expect(readSize(text)).toBeUndefined(),
  )
})

describe("other values", () => {
  test.each([
    ["true", true],
    ["Yes", true],
    ["1", true],
    ["off", false],
  ])("a switch takes %p", (text, value) => {
    const flags = { "allow-unauthenticated-network": text }
    expect(load({ flags }).allowUnauthenticatedNetwork).toBe(value)
  })

  test("a path may begin with the home directory, and is absolute else", () => {
    expect(load({ flags: { "log-file": "~/a.log" } }).logFile).toBe("/home/me/a.log")
    expect(problemsOf({ flags: { "log-file": "a.log" } })).toEqual([
      '--log-file: "a.log" is not allowed; allowed is an absolute path, or one that begins with ' +
        "~/, or none (for example --log-file /var/log/cc-executor/cc-executor.log)",
    ])
  })

  test.each([
    ["localhost", ["127.0.0.1", "::1"]],
    ["127.0.0.2", ["127.0.0.2"]],
    ["0:0:0:0:0:0:0:1", ["::1"]],
    ["[::1], 127.0.0.1", ["::1", "127.0.0.1"]],
  ])("the host %s is %p", (text, hosts) => {
    expect(load({ flags: { host: text } }).hosts).toEqual(hosts)
  })
})

describe("a bad value", () => {
  const port = "a whole number from 0 to 65535, or none"
  const hosts = "localhost, or IP addresses separated by commas"
  const durations = "in seconds or with a unit: 500ms, 300s, 5m, 2h, 1d"
  const sizes = "in bytes or with a unit: 64k, 64KiB, 1M, 1GiB"
  const longest = `a duration from 1ms to 365d, or none, ${durations}`

  test.each([
    ["port", "80a", port, "8003"],
    ["port", "65536", port, "8003"],
    ["host", "example.org", hosts, "127.0.0.1"],
    ["containment", "x", "auto, cgroup or best-effort", "cgroup"],
    ["grace", "2h", `a duration from 0s to 1h, ${durations}`, "5s"],
    ["ballast", "1", `a size from 64k to 1G, ${sizes}`, "1MiB"],
    ["timeout", "0", longest, "2h"],
  ])("--%s %s", (name, text, allowed, example) => {
    const instead = `(for example --${name} ${example})`
    expect(problemsOf({ flags: { [name]: text } })).toEqual([
      `--${name}: "${text}" is not allowed; allowed is ${allowed} ${instead}`,
    ])
  })

  test("names the variable it came from", () => {
    expect(problemsOf({ env: { MAX_SESSIONS: "0" } })).toEqual([
      'MAX_SESSIONS: "0" is not allowed; allowed is a whole number from 1 to 100000 ' +
        "(for example MAX_SESSIONS=100)",
    ])
  })

  test("does not hide another one", () => {
    const problems = problemsOf({ flags: { port: "x", prot: "1" }, env: { LOG_LEVEL: "loud" } })
    const named = problems.map((problem) => problem.split(/[ :]/)[0])
    expect(named).toEqual(["--prot", "--port", "LOG_LEVEL"])
  })

  test("a flag that stands without its value", () => {
    expect(problemsOf({ flags: { "log-files": true } })).toEqual([
      "--log-files needs a value; allowed is a whole number from 1 to 1000 " +
        "(for example --log-files 5)",
    ])
    expect(problemsOf({ flags: { "allowed-commands": true } })).toHaveLength(1)
  })

  test.each(["none", "NONE", "", ",", "git,,make", "bin/make"])(
    "the list of allowed commands %j, which must not come to mean everything",
    (text) => {
      expect(problemsOf({ env: { ALLOWED_COMMANDS: text } })).toHaveLength(1)
    },
  )
})

describe("an unknown name", () => {
  test("as a flag is a problem, with what was probably meant", () => {
    expect(problemsOf({ flags: { prot: "1" } })).toEqual([
      "--prot is not a setting; did you mean --port?",
    ])
    expect(problemsOf({ flags: { log_level: "info" } })).toEqual([
      "--log_level is not a setting; did you mean --log-level?",
    ])
    expect(problemsOf({ flags: { frobnicate: true } })).toEqual(["--frobnicate is not a setting"])
    expect(problemsOf({ flags: { constructor: "" } })).toEqual(["--constructor is not a setting"])
  })

  test("as a variable is a warning", () => {
    const inside = { HOME: "/", CC_EXECUTOR_EXECUTION_ID: "a" }
    const env = { ...inside, CC_EXECUTOR_PROT: "1", CC_EXECUTOR_PORT: "1", CC_EXECUTOR_: "" }
    expect(load({ env }).port).toBe(1)
    expect(configWarnings(env).map((warning) => warning.message)).toEqual([
      "CC_EXECUTOR_PROT is not a setting; did you mean CC_EXECUTOR_PORT?",
      "CC_EXECUTOR_ is not a setting",
    ])
  })
})

describe("an address that other machines can reach", () => {
  test.each(["0.0.0.0", "::", "192.168.1.5", "127.0.0.1,10.0.0.1"])("%s is refused", (host) => {
    const [problem, ...others] = problemsOf({ env: { CC_EXECUTOR_HOST: host } })
    expect(others).toEqual([])
    expect(problem).toStartWith("CC_EXECUTOR_HOST: ")
    expect(problem).toContain("this version has no authentication yet")
    expect(problem).toContain("--allow-unauthenticated-network")
  })

  test("is accepted when that is said to be meant, or nothing listens on it", () => {
    const host = "0.0.0.0"
    expect(load({ flags: { host, "allow-unauthenticated-network": true } }).hosts).toEqual([host])
    expect(load({ flags: { host, port: "none" } }).port).toBeNull()
  })
})

describe("docs/configuration.md", () => {
  test("is what the settings say", async () => {
    const script = join(import.meta.dir, "..", "scripts", "generate-docs.ts")
    const run = Bun.spawn([process.execPath, script, "--check"], { stderr: "inherit" })
    expect(await run.stdout.text()).toBe("")
    expect(await run.exited).toBe(0)
  })
})

function sources(given: Partial<ConfigSources>): ConfigSources {
  return { flags: {}, env: {}, home: "/home/me", ...given }
}

function load(given: Partial<ConfigSources>): Config {
  const loaded = loadConfig(sources(given))
  if (!loaded.ok) throw new Error(loaded.failure.map((problem) => problem.message).join("\n"))
  return loaded.value
}

function problemsOf(given: Partial<ConfigSources>): string[] {
  const loaded = loadConfig(sources(given))
  return loaded.ok ? [] : loaded.failure.map((problem) => problem.message)
}
