import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { commands } from "../../src/cli/commands.ts"
import { StateKind } from "../../src/execution/state.ts"
import { CommandLine } from "../cli/command-line.ts"
import { type CompletingShell, openBash, openFish, openZsh } from "../support/completing-shell.ts"
import { fewIfShort, onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const stack = new AsyncDisposableStack()
const line = stack.use(new CommandLine())
/** Executions by what they do; their beginnings differ. */
const ids = { live: "", ended: "", named: "" }

beforeAll(async () => {
  ids.live = await line.stdout("run", "-d", "--", "sleep", "600")
  ids.ended = await line.stdout("run", "-d", "--", "true")
  await line.stdout("wait", ids.ended)
  ids.named = await line.stdout("run", "-d", "--name", "nightly", "--", "sleep", "600")
})

afterAll(() => stack.disposeAsync())

/** As `ps` shows it. */
const short = (id: string) => id.slice(0, 8)

const shells = { bash: openBash, zsh: openZsh, fish: openFish }

for (const [name, open] of Object.entries(shells)) {
  describe(`in ${name}`, () => {
    const obstacle = Bun.which(name) === null ? `${name} is missing` : null
    let opened: CompletingShell | null = null
    const completing = (
      what: string,
      run: (shell: CompletingShell) => Promise<void>,
      notNow: string | null = null,
    ) =>
      testUnless(obstacle ?? notNow, what, async () => {
        opened ??= stack.use(await open(line.env()))
        await run(opened)
      })
    /** The same in every shell, as far as it is not the shell's own. */
    const alike = (what: string, run: (shell: CompletingShell) => Promise<void>) =>
      completing(what, run, name === "bash" ? null : onlyInFull)

    completing("commands are offered, in two words where they have two", async (shell) => {
      const firstWords = commands.map((command) => command.name.replace(/ .*/, ""))
      expect(await sorted(shell, "cc-executor ")).toEqual(
        [...new Set([...firstWords, "help"])].toSorted(),
      )
      expect(await shell.offered("cc-executor paus")).toEqual(["pause"])
      expect(await sorted(shell, "cc-executor token ")).toEqual([
        "create",
        "list",
        "new",
        "revoke",
        "show",
      ])
      expect(await shell.offered("cc-executor token cr")).toEqual(["create"])
      expect(await shell.offered("cc-executor mcp inst")).toEqual(["install"])
    })

    alike("options are offered, each for its command", async (shell) => {
      expect(await shell.offered("cc-executor logs --str")).toEqual([
        expect.stringMatching(/^--stream=?$/),
      ])
      expect(await shell.offered("cc-executor ps --watc")).toEqual(["--watch"])
      expect(await shell.offered("cc-executor token create --tt")).toEqual([
        expect.stringMatching(/^--ttl=?$/),
      ])
      expect(await shell.offered("cc-executor mcp --url x --token-f")).toEqual([
        expect.stringMatching(/^--token-file=?$/),
      ])
    })

    alike("values are offered where they are known", async (shell) => {
      expect(await sorted(shell, "cc-executor ps --state ")).toEqual(StateKind.options.toSorted())
      const [inline] = await shell.offered("cc-executor ps --state=runn")
      expect(inline?.replace("--state=", "")).toBe("running")
      expect(await sorted(shell, "cc-executor serve --log-format ")).toEqual([
        "auto",
        "json",
        "pretty",
      ])
      expect(await shell.offered("cc-executor mcp install --scope pro")).toEqual(["project"])
      expect(await sorted(shell, "cc-executor completions ")).toEqual(["bash", "fish", "zsh"])
    })

    completing("executions are offered: those that a command is for", async (shell) => {
      const live = ["nightly", short(ids.named), short(ids.live)]
      // A service that does not answer within a second is not waited for: then nothing is offered.
      const offered = (typed: string) =>
        until(`something for ${typed}`, async () => {
          const words = await shell.offered(typed)
          return words.some((word) => word !== "") && words
        })
      for (const command of fewIfShort(2, ["pause", "attach", "wait", "send"])) {
        expect(await offered(`cc-executor ${command} `)).toEqual(live)
      }
      for (const command of fewIfShort(1, ["rm", "receipt"])) {
        expect(await offered(`cc-executor ${command} `)).toEqual([short(ids.ended)])
      }
      for (const command of fewIfShort(1, ["logs -f", "inspect", "verify", "rerun"])) {
        expect(await offered(`cc-executor ${command} `)).toEqual([...live, short(ids.ended)])
      }
      expect(await offered("cc-executor attach nigh")).toEqual(["nightly"])
      expect(await offered(`cc-executor logs --stream stdout ${ids.ended.slice(0, 9)}`)).toEqual([
        ids.ended,
      ])
      expect(await offered("cc-executor signal US")).toEqual(["USR1", "USR2"])
      expect(await offered("cc-executor signal TERM ")).toEqual(live)
    })

    completing("another program's command line is left to it", async (shell) => {
      expect(await shell.offered("cc-executor run -d whoam")).toEqual(["whoami"])
      expect(await shell.offered("cc-executor run -d -- whoam")).toEqual(["whoami"])
      expect(await shell.offered("cc-executor run whoami --detac")).not.toContain("--detach")
    })

    alike("files and directories are the shell's own to offer", async (shell) => {
      const { stateDir } = line
      const key = `${stateDir}/receipt-key.pem`
      expect(await shell.offered(`cc-executor ps --token-file ${stateDir}/receipt-k`)).toEqual([
        key,
      ])
      const [inline] = await shell.offered(`cc-executor ps --token-file=${stateDir}/receipt-k`)
      expect(inline?.replace("--token-file=", "")).toBe(key)
      const [directory] = await shell.offered(`cc-executor ps --state-dir ${stateDir}/tra`)
      expect(directory?.replace(/\/$/, "")).toBe(`${stateDir}/transcripts`)
      expect(await shell.offered(`cc-executor run cat ${stateDir}/receipt-k`)).toEqual([key])
    })

    completing("a variable with a value is one word", async (shell) => {
      expect(await shell.offered("cc-executor run -e A=b whoam")).toEqual(["whoami"])
      expect(await shell.offered("cc-executor run --env=A=b -- whoam")).toEqual(["whoami"])
      expect(await shell.offered("cc-executor ps --url ws://a:1 --watc")).toEqual(["--watch"])
    })

    alike("what shells ask is not for people", async (shell) => {
      expect((await shell.offered("cc-executor __")).filter((word) => word !== "__")).toEqual([])
    })

    testUnless(obstacle, "without a service nothing is offered, and none is started", async () => {
      await using other = new CommandLine()
      await using shell = await open(other.env())

      const offered = await shell.offered("cc-executor cancel ")

      expect(offered.filter((word) => word !== "")).toEqual([])
      expect(readdirSync(other.stateDir)).toEqual([])
    })
  })
}

describe.each(["zsh", "fish"] as const)("in %s, what another program", (name) => {
  const obstacle = Bun.which(name) === null ? `${name} is missing` : null
  testUnless(obstacle, "completes by itself is completed by it", async () => {
    await using shell = await shells[name](line.env())
    expect(await shell.offered("cc-executor run -e A=b -- cc-executor paus")).toEqual(["pause"])
    expect(await shell.offered("cc-executor run cc-executor ps --watc")).toEqual(["--watch"])
  })
})

describe("the script for bash", () => {
  const obstacle = Bun.which("shellcheck") === null ? "shellcheck is missing" : null
  testUnless(obstacle, "has nothing that shellcheck would change", async () => {
    const script = Buffer.from(await line.stdout("completions", "bash"))
    const check = Bun.spawn(["shellcheck", "-"], { stdin: script, stdout: "pipe" })
    expect(await check.stdout.text()).toBe("")
    expect(await check.exited).toBe(0)
  })
})

describe("a shell that is not known", () => {
  test("is refused with those that are", async () => {
    const run = await line.run(["completions", "tcsh"])
    expect(run).toMatchObject({ exitCode: 2, stdout: "" })
    expect(run.stderr).toContain("use bash, zsh, fish")
  })
})

async function sorted(shell: CompletingShell, typed: string): Promise<string[]> {
  return (await shell.offered(typed)).toSorted()
}
