import { existsSync } from "node:fs"
import { join } from "node:path"
import { fillFolder, packageFolder } from "../package-folder.ts"
import { sha256 } from "./sha256.ts"
import { bunVersion, type Target } from "./targets.ts"

/** A Bun that a program is put together with. */
export type Runtime = { path: string; version: string; sha256: string; package: string | null }

/**
 * The runtime of a target: this very Bun where it is the same file, else the one of Bun's package,
 * fetched once. Either way it is byte for byte the one that `targets.ts` names.
 */
export async function releasedRuntime(target: Target): Promise<Runtime> {
  const { package: name, sha256: wanted } = target.runtime
  const runtime = { version: bunVersion, sha256: wanted, package: name }
  if ((await sha256(process.execPath)) === wanted) return { ...runtime, path: process.execPath }

  const folder = packageFolder(`${name}@${bunVersion}`)
  const path = join(folder, "node_modules", name, "bin", "bun")
  const platform = [`--os=linux`, `--cpu=${target.name.includes("arm64") ? "arm64" : "x64"}`]
  if (!existsSync(path)) await fillFolder(folder, `${name}@${bunVersion}`, platform)
  if (!existsSync(path)) throw new Error(`${name}@${bunVersion} could not be installed.`)

  const found = await sha256(path)
  if (found === wanted) return { ...runtime, path }
  throw new Error(
    `${path} has SHA-256 ${found}, and not ${wanted}: somebody has changed it. Remove ${folder}.`,
  )
}

/** The Bun that runs this, whatever it is. */
export async function ownRuntime(): Promise<Runtime> {
  const path = process.execPath
  return { path, version: Bun.version, sha256: await sha256(path), package: null }
}
