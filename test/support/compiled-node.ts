import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const program = join(import.meta.dir, "../fixtures/fleet/main.ts")
const flags = ["--compile", "--production", "--minify", "--bytecode", "--format=esm", "--splitting"]

export type CompiledNode = Disposable & { path: string }

/** A node of a list as an executable, where speed and memory are what matters. */
export async function compileNode(): Promise<CompiledNode> {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-node-"))
  const path = join(folder, "cc-executor")
  const build = Bun.spawn([process.execPath, "build", program, ...flags, `--outfile=${path}`], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  if ((await build.exited) !== 0) throw new Error("a node could not be compiled")
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}
