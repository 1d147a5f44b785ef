import { existsSync } from "node:fs"

/** Why nobody can exchange names here, or null. */
export const noSwapper = existsSync("/usr/bin/python3") ? null : "needs python3"

// RENAME_EXCHANGE: at no moment is either name missing.
const swap = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
one, other = (os.fsencode(path) for path in sys.argv[1:3])
while True:
    for _ in range(1000):
        if libc.renameat2(-100, one, -100, other, 2) != 0:
            sys.exit(os.strerror(ctypes.get_errno()))
    print("swapped", flush=True)
`

/** Somebody who exchanges two names as fast as they can, until disposed. */
export class NameSwapper implements AsyncDisposable {
  readonly #process: Bun.Subprocess<"ignore", "pipe", "inherit">
  readonly #begun = Promise.withResolvers<void>()

  constructor(names: readonly [string, string], uid: number | null) {
    this.#process = Bun.spawn(["/usr/bin/python3", "-c", swap, ...names], {
      cwd: "/",
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
      ...(uid === null ? {} : { uid, gid: uid }),
    })
    void this.#listen()
  }

  static async start(
    names: readonly [string, string],
    uid: number | null = null,
  ): Promise<NameSwapper> {
    const swapper = new NameSwapper(names, uid)
    await swapper.#begun.promise
    return swapper
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#process.exited
  }

  async #listen(): Promise<void> {
    for await (const _piece of this.#process.stdout) this.#begun.resolve()
    this.#begun.reject(new Error("no name could be exchanged"))
  }
}
