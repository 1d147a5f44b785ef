import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Terminal } from "../cli/terminal/terminal.ts"
import { executable } from "./service.ts"

/** A real shell that has loaded what `cc-executor completions` printed for it. */
export interface CompletingShell extends AsyncDisposable {
  /** What the shell puts, or would put, in the place of the last word. */
  offered(line: string): Promise<string[]>
}

type Environment = Record<string, string | undefined>

/** A folder with the program by its name, first on PATH, and the script for a shell. */
class Prepared implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cc-executor-shell-"))
  readonly script: string
  readonly env: Environment

  constructor(shell: string, env: Environment) {
    symlinkSync(executable, join(this.folder, "cc-executor"))
    // zsh loads a function from a file of its name, in a folder of its list.
    this.script = join(this.folder, shell === "zsh" ? "_cc-executor" : `completion.${shell}`)
    const made = Bun.spawnSync([executable, "completions", shell])
    if (made.exitCode !== 0) throw new Error(made.stderr.toString())
    writeFileSync(this.script, made.stdout)
    const own = { HOME: this.folder, ZDOTDIR: this.folder, TERM: "xterm", HISTFILE: undefined }
    this.env = { ...env, ...own, PATH: `${this.folder}:${env["PATH"]}` }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Ctrl-A, and what prints the words of the line instead of running it. */
const printWords = "\x01printf '<%s>\\n' \r"

/** bash and zsh show on a terminal only: a key inserts everything that is offered into the line. */
class TypedShell implements CompletingShell {
  readonly #terminal: Terminal
  readonly #prepared: Prepared

  constructor(prepared: Prepared, argv: string[]) {
    this.#prepared = prepared
    // So wide that no line is ever broken.
    this.#terminal = new Terminal(argv, prepared.env, { cols: 8000, rows: 50 })
  }

  async ready(): Promise<this> {
    await this.#terminal.untilShows(/ready> /)
    return this
  }

  async offered(line: string): Promise<string[]> {
    const seen = this.#terminal.screen.length
    this.#terminal.type(`${line}\x18*${printWords}echo en''d\r`)
    await this.#terminal.untilShows(new RegExp(`^[^]{${seen}}[^]*[\\r\\n]end[\\r\\n][^]*ready> `))
    const printed = this.#terminal.screen.slice(seen).matchAll(/<([^<>\r\n]*)>\r?\n/g)
    const words = [...printed].map(([, word = ""]) => word)
    return words.slice(line.split(" ").length - 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#terminal[Symbol.asyncDispose]()
    this.#prepared[Symbol.dispose]()
  }
}

export function openBash(env: Environment): Promise<CompletingShell> {
  const prepared = new Prepared("bash", env)
  const settings = join(prepared.folder, "bashrc")
  writeFileSync(
    settings,
    `
bind '"\\C-x*": insert-completions'
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
source '${prepared.script}'
PS1='ready> '
`,
  )
  return new TypedShell(prepared, ["bash", "--rcfile", settings, "-i"]).ready()
}

export function openZsh(env: Environment): Promise<CompletingShell> {
  const prepared = new Prepared("zsh", env)
  writeFileSync(
    join(prepared.folder, ".zshrc"),
    `
unsetopt prompt_sp beep
unset zle_bracketed_paste
fpath=('${prepared.folder}' $fpath)
autoload -Uz compinit && compinit -D -u
zle -C all-matches complete-word _generic
bindkey -e
bindkey '^X*' all-matches
zstyle ':completion:all-matches::::' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
PS1='ready> '
`,
  )
  return new TypedShell(prepared, ["zsh", "-i", "--no-globalrcs"]).ready()
}

export async function openFish(env: Environment): Promise<CompletingShell> {
  const prepared = new Prepared("fish", env)
  return {
    async offered(line) {
      const ask = 'source $argv[1]; complete -C "$argv[2]"'
      const fish = Bun.spawn(["fish", "--no-config", "-c", ask, prepared.script, line], {
        env: prepared.env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      })
      const [stdout, stderr] = await Promise.all([fish.stdout.text(), fish.stderr.text()])
      if ((await fish.exited) !== 0) throw new Error(stderr)
      return stdout.split("\n").flatMap((row) => (row === "" ? [] : [row.replace(/\t.*/, "")]))
    },
    async [Symbol.asyncDispose]() {
      prepared[Symbol.dispose]()
    },
  }
}
