import { describe, expect, test } from "bun:test"
import {
  type Config,
  type ConfigSources,
  configWarnings,
  loadConfig,
} from "../../src/config/config.ts"
import { settings } from "../../src/config/settings.ts"
import { readSize } from "../../src/config/text-form.ts"
import { readDuration } from "../../src/lib/duration.ts"
import { fleetDefaults } from "../support/fleet-defaults.ts"
import { limitDefaults } from "../support/limit-defaults.ts"

describe("without flags and variables", () => {
  test("the configuration is the documented one", () => {
    expect(load({})).toEqual({
      hosts: ["127.0.0.1", "::1"],
      port: 8003,
      requireToken: false,
      makeToken: false,
      containerName: null,
      acceptTokenFile: null,
      acceptTokenScopes: ["execute", "control", "read"],
      noConsole: false,
      preloadMcp: false,
      allowedHosts: null,
      allowedOrigins: null,
      tlsCert: null,
      tlsKey: null,
      tlsClientCa: null,
      clientCertScopes: ["execute", "control", "read"],
      maxSessions: 100,
      maxSessionsPerPrincipal: 32,
      maxConnectionsPerAddress: 64,
      messagesPerSecond: 1000,
      requestTimeoutMs: 30_000,
      streamTimeoutMs: 300_000,
      maxMessageBytes: 8_388_608,
      shell: null,
      allowedCommands: null,
      policyFile: null,
      runAs: null,
      containment: "auto",
      maxExecutions: 64,
      maxQueue: 1000,
      wallTimeoutMs: null,
      idleTimeoutMs: null,
      graceMs: 5000,
      lingerMs: 2000,
      disconnectLeaseMs: 10_000,
      budgetBytes: 1_073_741_824,
      budgetLines: null,
      budgetPolicy: "drop-oldest",
      throttleBytesPerSecond: 67_108_864,
      redactFile: null,
      stateDir: "/home/me/.local/state/cc-executor",
      retainAgeMs: 604_800_000,
      retainBytes: 10_737_418_240,
      retainRecordsMs: 7_776_000_000,
      retainKeysMs: 86_400_000,
      diskFloorBytes: 268_435_456,
      ballastBytes: 1_048_576,
      notifyFile: null,
      notifyCommand: null,
      notifyMaxAgeMs: 86_400_000,
      logLevel: "info",
      logFormat: "auto",
      logFile: null,
      logFileBytes: 10_485_760,
      logFiles: 5,
      auditFileBytes: 16_777_216,
      auditFiles: 64,
      shutdownGraceMs: 8000,
      exitWhenIdleMs: null,
      ...limitDefaults,
      ...fleetDefaults,
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
    const loaded = loadConfig(sources({ flags: { [name]: setting.example } }))
    const problems = loaded.ok ? [] : loaded.failure.map(({ kind }) => kind)
    expect(problems.filter((kind) => kind !== "incomplete")).toEqual([])
  })

  test("an empty value is refused, with an example", () => {
    const { variable, allowed, notation, example } = setting
    const what = notation === "" ? allowed : `${allowed}, ${notation}`
    expect(problemsOf({ env: { [variable]: "" } })).toEqual([
      `${variable}: "" is not valid; expected ${what} (for example ${variable}=${example})`,
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
    expect(load({ flags: { "require-token": text } }).requireToken).toBe(value)
  })

  test("a path may begin with the home directory, and is absolute else", () => {
    expect(load({ flags: { "log-file": "~/a.log" } }).logFile).toBe("/home/me/a.log")
    expect(problemsOf({ flags: { "log-file": "a.log" } })).toEqual([
      '--log-file: "a.log" is not valid; expected an absolute path, or one starting with ' +
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

  test("names and origins are taken in the spelling that browsers send", () => {
    const flags = {
      "allowed-hosts": "Executor.Example, [FD00::7]",
      "allowed-origins": "HTTPS://Console.Example:443, http://localhost:3000/",
    }
    const { allowedHosts, allowedOrigins } = load({ flags })

    expect(allowedHosts).toEqual(["executor.example", "[fd00::7]"])
    expect(allowedOrigins).toEqual(["https://console.example", "http://localhost:3000"])
  })

  test.each([
    ["allowed-hosts", "executor.example:8003"],
    ["allowed-hosts", "user@executor.example"],
    ["allowed-hosts", ""],
    ["allowed-origins", "console.example"],
    ["allowed-origins", "https://console.example/page"],
    ["allowed-origins", "*"],
  ])("--%s %p is refused", (flag, text) => {
    expect(problemsOf({ flags: { [flag]: text } })).toHaveLength(1)
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
      `--${name}: "${text}" is not valid; expected ${allowed} ${instead}`,
    ])
  })

  test("names the variable it came from", () => {
    expect(problemsOf({ env: { MAX_SESSIONS: "0" } })).toEqual([
      'MAX_SESSIONS: "0" is not valid; expected a whole number from 1 to 100000 ' +
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
      "--log-files needs a value; expected a whole number from 1 to 1000 " +
        "(for example --log-files 5)",
    ])
    expect(problemsOf({ flags: { "allowed-commands": true } })).toHaveLength(1)
  })
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
