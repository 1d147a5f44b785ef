import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { run } from "./steps.ts"

/**
 * Where packages that are no dependencies are kept, once for all checkouts of a user. They are
 * named with their versions, and separated by spaces.
 */
export function packageFolder(packages: string): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache")
  const name = packages.replaceAll("/", "+").replaceAll(" ", "_")
  return join(cache, "cc-executor-test-tools", name)
}

/**
 * Installs packages there, whole or not at all: a folder that was only half filled would never be
 * filled again. Answers whether it is there now.
 */
export async function fillFolder(
  folder: string,
  packages: string,
  options: readonly string[] = [],
): Promise<boolean> {
  await mkdir(dirname(folder), { recursive: true })
  const building = await mkdtemp(`${folder}-`)
  await writeFile(join(building, "package.json"), "{}")
  const add = [process.execPath, "add", "--cwd", building, "--exact", "--ignore-scripts"]
  const exitCode = await run([...add, ...options, ...packages.split(" ")])
  if (exitCode === 0 && !existsSync(folder)) {
    await rename(building, folder)
    return true
  }
  await rm(building, { recursive: true })
  return exitCode === 0
}
