import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commands } from "../../src/cli/commands.ts"
import { Receipt } from "../../src/execution/receipt.ts"
import { methods } from "../../src/protocol/methods.ts"
import { notifications } from "../../src/protocol/notifications.ts"
import { CommandLine } from "../cli/command-line.ts"
import { noOtherUsers } from "../support/as-user.ts"
import { type Attempt, forms, hostileWorks, names } from "../support/command-forms.ts"
import { HostileKeeper } from "../support/hostile-keeper.ts"
import { plantHostileFiles, serviceWithHostileRecords } from "../support/hostile-records.ts"
import { HostileServer, manners } from "../support/hostile-server.ts"
import {
  harmfulIn,
  hostile,
  hostileName,
  hostileValueOf,
  showsHostile,
} from "../support/hostile-text.ts"
import { byScale } from "../support/scale.ts"
import { seenScreen } from "../support/seen-screen.ts"
import { executable } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

setDefaultTimeout(300_000)

/** What is asked on TAB, and what a person may mistype in every command. */
const odd: readonly Attempt[] = [
  ["__complete", "attach", ""],
  ["__complete", "rm", ""],
  [hostile],
  ["help", hostile],
  ...commands.flatMap(({ name }) => [
    [...name.split(" "), "--help"],
    [...name.split(" "), `--${hostile}`],
    [...name.split(" "), hostile, hostile],
  ]),
]

const params =
  '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}'
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}\n\u0004`

const typedFor = new Map([
  ["mcp", initialize],
  ["bridge", initialize],
  ["prune", "n\n"],
  ["stop", "y\n"],
])

test("every command is attempted", () => {
  expect(Object.keys(forms)).toEqual(commands.map(({ name }) => name))
})

test("the hostile server speaks the protocol", () => {
  const schemas = [
    Receipt,
    ...Object.values(notifications),
    ...Object.values(methods).map(({ result }) => result),
  ]
  for (const schema of schemas) {
    for (let variant = 0; variant < manners.length; variant += 1) {
      expect(schema.safeParse(hostileValueOf(schema, variant)).error).toBeUndefined()
    }
  }
})

type Surroundings = { env: Record<string, string | undefined>; id: string; url: string }

const everything = Object.entries(forms).flatMap(([name, attempts]) =>
  attempts.map((attempt) => [...name.split(" "), ...attempt]),
)

/** A short run takes one in so many, in every test others, and the full one all. */
const share = byScale({ short: 48, full: 1, long: 1 })
const shareOf = (attempts: readonly Attempt[], nth: number, oneIn = share) =>
  attempts.filter((_, index) => index % oneIn === nth % oneIn)

/** What shows most of the records and files of a state directory, in every run. */
const telling: readonly Attempt[] = [
  ["ps", "-a"],
  ["ps", "-a", "--json"],
  ["inspect", "ID"],
  ["inspect", names[0]],
  ["logs"],
  ["rerun", "ID"],
  ["token", "list"],
  ["audit"],
  ["doctor"],
  ["receipt", "ID"],
]
const localShare = byScale({ short: 30, full: 1, long: 1 })
const localShareOf = (attempts: readonly Attempt[], nth: number) => [
  ...telling,
  ...shareOf(attempts, nth, localShare),
]

const atOnce = 4
const folder = temporaryFolder()
// As the names of files and directories go, too.
const home = join(folder.path, hostileName)
mkdirSync(home)
for (const [name, text] of Object.entries(hostileWorks)) writeFileSync(join(home, name), text)
afterAll(() => folder[Symbol.dispose]())

/** Tries each, and answers how many screens showed something hostile, made harmless. */
async function tryAll(attempts: readonly Attempt[], around: Surroundings): Promise<number> {
  const left = [...attempts]
  let shown = 0
  const work = async () => {
    for (let attempt = left.shift(); attempt !== undefined; attempt = left.shift()) {
      const argv = attempt.map((word) => inPlace(word, around))
      const typed = typedFor.get(argv[0] ?? "")
      const screen = await seenScreen([executable, ...argv], {
        env: around.env,
        cwd: home,
        ...(typed === undefined ? {} : { typed }),
      })
      const harmful = harmfulIn(screen)
      if (harmful.length > 0) expect({ argv, harmful, screen }).toMatchObject({ harmful: [] })
      if (showsHostile(screen)) shown += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return shown
}

function inPlace(word: string, { id, url }: Surroundings): string {
  return word.replace(/^ID$/, id).replace(/^URL/, url).replace(/^HTTP/, url.replace("ws", "http"))
}

function environment(more: Record<string, string>): Record<string, string | undefined> {
  const { CI: _, ...own } = process.env
  return { ...own, HOME: home, TERM: "xterm", ...more }
}

describe("a server", () => {
  const isLocalOnly = new RegExp(
    "^(?:token|serve|stop|upgrade|completions|version|policy|audit|mcp install|" +
      "prompt|tasks|suite|badge|adopt)",
  )

  test.each([...manners])("that %s gets nothing harmful onto a terminal", async (manner) => {
    await using server = new HostileServer(manner)
    const env = environment({
      CC_EXECUTOR_URL: server.url,
      CC_EXECUTOR_STATE_DIR: join(home, "state"),
      CC_EXECUTOR_TOKEN: "secret",
    })
    const start = manners.indexOf(manner)
    const remote = [...everything, ...odd.slice(0, 2)].filter((attempt) => {
      const line = attempt.join(" ")
      return !isLocalOnly.test(line) && !/^(?:render|resume-work|verify TASKS)/.test(line)
    })
    // Between them these show something of every manner.
    const always: Attempt[] = [
      ["ps", "-a"],
      ["bridge", "--to", "HTTP/mcp"],
      ["healthcheck", "--url", "URL"],
      ["doctor"],
    ]

    const shown = await tryAll([...always, ...shareOf(remote, 2 * start)], {
      env,
      id: "a",
      url: server.url,
    })

    expect(shown).toBeGreaterThan(0)
  })
})

describe("a service with hostile records", () => {
  test("gets nothing harmful onto a terminal", async () => {
    const { service, id } = await serviceWithHostileRecords(folder.path, names)
    await using _service = service
    const env = environment({ CC_EXECUTOR_STATE_DIR: service.stateDir })
    const wouldEndIt = /^(?:stop|serve|upgrade|rm|prune|cancel|signal)/
    const attempts = everything.filter((attempt) => !wouldEndIt.test(attempt.join(" ")))

    const shown = await tryAll([...localShareOf(attempts, 0), ["__complete", "rm", ""]], {
      env,
      id,
      url: "",
    })
    const asked = await tryAll([["stop"]], { env, id, url: "" }) // lists what runs, and asks

    expect(shown).toBeGreaterThan(5)
    expect(asked).toBe(1)
  })

  test("nor when they are removed, and it is replaced and ended", async () => {
    const { service, id } = await serviceWithHostileRecords(folder.path, names)
    await using _service = service
    const env = environment({ CC_EXECUTOR_STATE_DIR: service.stateDir })
    const around = { env, id, url: "" }

    await tryAll([["serve", "--port", "none"]], around)
    await tryAll([["upgrade", "--to", hostileName], ["upgrade"], ["upgrade", "--json"]], around)
    await tryAll([["prune", "--all"]], around)
    await tryAll([["rm", id]], around)
    await tryAll([["prune", "--all", "--force"]], around)
    await tryAll([["stop"]], around)
  })
})

describe("a state directory of somebody else's making", () => {
  testUnless(noOtherUsers, "gets nothing harmful onto a terminal", async () => {
    await using line = new CommandLine()
    const { stateDir } = line
    await using _server = new HostileServer("answers", join(stateDir, "gateway.sock"))
    plantHostileFiles(stateDir)
    await using keeper = new HostileKeeper(stateDir, hostile, { upgrades: true })
    await keeper.ready()
    const env = environment({ CC_EXECUTOR_STATE_DIR: stateDir })
    const around = { env, id: "a", url: "" }
    const wouldEndIt = /^(?:serve|stop|upgrade)/
    const attempts = everything.filter((attempt) => !wouldEndIt.test(attempt.join(" ")))

    const shown = await tryAll(localShareOf(attempts, 3), around)
    const version = await tryAll([["doctor"]], around)
    const why = await tryAll([["upgrade"]], around)
    await tryAll([["serve", "--port", "none"]], around)
    await tryAll([["stop"]], around)
    await tryAll([["serve", "--port", "none"]], around) // and nobody holds it any more

    expect(shown).toBeGreaterThan(5)
    expect({ version, why }).toEqual({ version: 1, why: 1 })
  })

  testUnless(noOtherUsers, "nor does one that cannot be upgraded", async () => {
    await using line = new CommandLine()
    const { stateDir } = line
    await using keeper = new HostileKeeper(stateDir, hostile, { upgrades: false })
    await keeper.ready()
    const env = environment({ CC_EXECUTOR_STATE_DIR: stateDir })

    expect(await tryAll([["upgrade"]], { env, id: "a", url: "" })).toBe(1)
  })
})

describe("words that were typed, and settings", () => {
  test("get nothing harmful onto a terminal", async () => {
    const env = environment({
      CC_EXECUTOR_STATE_DIR: join(home, "no-state"),
      CC_EXECUTOR_PORT: hostile,
      CC_EXECUTOR_SHELL: hostile,
      CC_EXECUTOR_POLICY_FILE: hostile,
      [`CC_EXECUTOR_${hostileName}`]: hostile,
    })
    const settings: Attempt[] = [["doctor"], ["serve"], ["policy", "check", "true"], ["ps"]]

    const shown = await tryAll([...shareOf(odd, 0), ...settings], {
      env,
      id: hostile,
      url: hostile,
    })

    expect(shown).toBeGreaterThan(commands.length / share)
  })
})
