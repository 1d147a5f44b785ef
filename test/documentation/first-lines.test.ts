import { afterAll, expect } from "bun:test"
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { readConsole } from "./console-block.ts"
import { readDocument } from "./document.ts"
import { ShownOutput } from "./shown-output.ts"

const missing = ["npm", "git", "bash"].find((name) => Bun.which(name) === null)
const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

// What README.md begins with is typed into a fresh clone, by somebody who has no cc-executor yet.
testUnless(
  missing === undefined ? null : `no ${missing}`,
  "the first lines of README.md lead from a clone to a first result",
  async () => {
    const [block] = readDocument("README.md").blocks.filter(({ section }) => section === "")
    const clone = join(folder.path, "clone")
    await copyCheckout(clone)
    const output = new ShownOutput()
    await using shell = new Shell(clone)
    expect(await shell.type("command -v cc-executor || echo none")).toContain("none")

    for (const { command, shown } of readConsole(block?.text ?? "")) {
      const printed = await shell.type(output.inUse(command))
      const difference = output.difference(shown, printed)
      expect(difference === null ? null : `${command}\n${difference}`).toBeNull()
    }
  },
  240_000,
)

/** As it is now, committed or not. What npm would fetch is there: there may be no network. */
async function copyCheckout(target: string): Promise<void> {
  const list = Bun.spawn(["git", "ls-files", "-z", "-co", "--exclude-standard"], { cwd: root })
  const files = (await list.stdout.text()).split("\0").filter((file) => file !== "")
  for (const file of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    copyFileSync(join(root, file), join(target, file))
  }
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"))
}

/** Says on its own line that a command has ended. */
const mark = "--- typed ---"

/** A person's shell, with a state directory of its own; its service ends with it. */
class Shell implements AsyncDisposable {
  readonly #bash
  readonly #lines: AsyncIterator<string>

  constructor(cwd: string) {
    this.#bash = Bun.spawn(["bash", "--norc", "--noprofile"], {
      cwd,
      env: personsEnvironment(),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
    this.#lines = linesOf(this.#bash.stdout)
  }

  /** What it prints, until it has ended. */
  async type(command: string): Promise<string[]> {
    // In the shell itself, so that what it exports stays; `$?` is still the command's afterwards.
    const typed = `{ ${command}\n} < /dev/null 2>&1\n`
    await this.#bash.stdin.write(`${typed}code=$?; echo; echo '${mark}'; (exit $code)\n`)
    await this.#bash.stdin.flush()
    const printed: string[] = []
    for (;;) {
      const { value, done } = await this.#lines.next()
      if (done === true) throw new Error(`the shell has ended: ${printed.join("\n")}`)
      if (value === mark) return printed
      printed.push(value)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.type("cc-executor stop --now")
    await this.#bash.stdin.end()
    await this.#bash.exited
  }
}

function personsEnvironment(): Record<string, string | undefined> {
  const { PATH = "", ...others } = process.env
  const own = Object.entries(others).filter(([name]) => !name.startsWith("CC_EXECUTOR_"))
  const hasNone = (place: string) => Bun.which("cc-executor", { PATH: place }) === null
  return {
    ...Object.fromEntries(own),
    PATH: PATH.split(delimiter).filter(hasNone).join(delimiter),
    XDG_STATE_HOME: join(folder.path, "state"),
  }
}

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const piece of output) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}
