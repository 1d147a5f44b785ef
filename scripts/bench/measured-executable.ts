import { join, resolve } from "node:path"
import { bun, root } from "../steps.ts"

/** The one that was named, or a fresh build of this tree. */
export async function measuredExecutable(named: string | undefined): Promise<string> {
  if (named !== undefined) return resolve(named)
  const exitCode = await bun(join("scripts", "build.ts"))
  if (exitCode !== 0) process.exit(exitCode)
  return join(root, "dist", "cc-executor")
}
