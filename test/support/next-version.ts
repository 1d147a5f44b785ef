import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What the executable below says its version is. */
export const nextVersion = "9.9.9"

/** The same program, built as a later release of itself: what one would upgrade to. */
export async function buildNextVersion(): Promise<Disposable & { path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-next-"))
  using made = new DisposableStack()
  made.defer(() => rmSync(folder, { recursive: true }))
  const path = join(folder, "cc-executor")
  const root = join(import.meta.dir, "../..")
  const flags = ["--compile", "--production", "--minify", "--bytecode", "--format=esm"]
  const define = ["--define", `BUILD_VERSION=${JSON.stringify(nextVersion)}`]
  const build = Bun.spawn(
    [process.execPath, "build", "src/main.ts", ...flags, ...define, `--outfile=${path}`],
    { cwd: root, stdin: "ignore", stdout: "ignore", stderr: "inherit" },
  )
  if ((await build.exited) !== 0) throw new Error("the next version could not be built")
  const kept = made.move()
  return { path, [Symbol.dispose]: () => kept.dispose() }
}
