import { appendFileSync, mkdirSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "./temporary-folder.ts"

const paddingBytes = 1024 * 1024

/** A disk of a few megabytes that a test can fill. Needs root. */
export class SmallDisk implements Disposable {
  readonly path: string
  readonly #owned = new DisposableStack()

  /** The number of inodes is what the system gives, unless it is told. */
  constructor(size: string, inodes: number | null = null) {
    this.path = this.#owned.use(temporaryFolder()).path
    const options = `size=${size}${inodes === null ? "" : `,nr_inodes=${inodes}`}`
    run(["mount", "-t", "tmpfs", "-o", options, "none", this.path])
    this.#owned.defer(() => run(["umount", "--lazy", this.path]))
    appendFileSync(this.#filler, new Uint8Array(paddingBytes))
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }

  /** Takes every byte that is left. */
  fill(): void {
    const page = new Uint8Array(4096)
    try {
      while (true) appendFileSync(this.#filler, page)
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error
    }
  }

  get freeInodes(): number {
    return statfsSync(this.path).ffree
  }

  /** Takes inodes until only so many are left. */
  fillInodes(left: number): void {
    mkdirSync(this.#emptyFiles, { recursive: true })
    for (let number = 0; this.freeInodes > left; number += 1) {
      appendFileSync(join(this.#emptyFiles, `${process.pid}-${number}`), "")
    }
  }

  emptyInodes(): void {
    rmSync(this.#emptyFiles, { recursive: true, force: true })
  }

  /** Gives back what `fill` took, and a megabyte that was taken from the beginning. */
  empty(): void {
    rmSync(this.#filler, { force: true })
  }

  [Symbol.dispose](): void {
    this.#owned.dispose()
  }

  get #emptyFiles(): string {
    return join(this.path, "empty-files")
  }

  get #filler(): string {
    return join(this.path, "filler")
  }
}

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`)
}
