import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder full of traps: whatever gets past a policy leaves a file behind. */
export class BypassGround implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cc-executor-bypass-"))
  /** On the service's PATH, before everything else, and writable. */
  readonly bin = join(this.folder, "bin")
  /** A place to plant things that are on no PATH. */
  readonly cwd = join(this.folder, "cwd")
  readonly links = join(this.folder, "links")
  /** Executed, it leaves the trace. */
  readonly evil: string
  readonly #trace = join(this.folder, "it-ran")

  constructor() {
    for (const folder of [this.bin, this.cwd, this.links]) mkdirSync(folder)
    this.evil = this.plant(join(this.folder, "evil"))
  }

  get hasTrace(): boolean {
    return existsSync(this.#trace)
  }

  /** Puts a program that leaves the trace at a path, whatever was there. */
  plant(path: string): string {
    return this.script(path, "/bin/sh", `touch ${this.#trace}`)
  }

  script(path: string, interpreter: string, line: string): string {
    rmSync(path, { force: true })
    writeFileSync(path, `#!${interpreter}\n${line}\n`)
    chmodSync(path, 0o755)
    return path
  }

  link(target: string, path: string): string {
    rmSync(path, { force: true })
    symlinkSync(target, path)
    return path
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true })
  }
}
