import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { temporaryFolder } from "./temporary-folder.ts"

/** A real git repository, with one commit of one file. */
export class Repository implements Disposable {
  readonly #folder = temporaryFolder()
  readonly path: string

  constructor(args: readonly string[] = []) {
    this.path = join(realpathSync(this.#folder.path), "project")
    mkdirSync(this.path)
    this.git("init", "--quiet", "--initial-branch=main", ...args)
    this.git("config", "user.name", "Somebody")
    this.git("config", "user.email", "somebody@example.net")
  }

  static withCommit(): Repository {
    const repository = new Repository()
    repository.write("sum.js", "one\ntwo\nthree\n")
    repository.commit("Begin")
    return repository
  }

  write(name: string, text: string, at = this.path): void {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), text)
  }

  read(name: string, at = this.path): string {
    return readFileSync(join(at, name), "utf8")
  }

  commit(message: string, at = this.path): string {
    this.git("-C", at, "add", "--all")
    this.git("-C", at, "commit", "--quiet", "-m", message)
    return this.git("-C", at, "rev-parse", "HEAD")
  }

  /** What git says there. */
  git(...args: string[]): string {
    const { GIT_DIR: _, ...env } = process.env
    const ran = Bun.spawnSync(["git", ...args], { cwd: this.path, env })
    if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`)
    return ran.stdout.toString().trim()
  }

  /** All that could differ after something that was to change nothing. */
  state(): string {
    const index = this.git("ls-files", "--stage")
    const status = this.git("status", "--porcelain", "--ignored")
    return [this.git("rev-parse", "HEAD"), index, status, this.git("diff")].join("\n--\n")
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
