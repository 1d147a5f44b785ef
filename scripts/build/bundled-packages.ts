import { join } from "node:path"
import { z } from "zod"
import { root } from "../steps.ts"

/** A package of which something is in the executable. */
export type BundledPackage = {
  name: string
  version: string
  /** Of its archive, as the lockfile has it: `sha512-` and base64. */
  integrity: string
  licence: string
}

/** The packages that source files belong to, by what the lockfile and they themselves say. */
export async function bundledPackages(sources: readonly string[]): Promise<BundledPackage[]> {
  const locked = Lockfile.parse(Bun.JSONC.parse(await Bun.file(join(root, "bun.lock")).text()))
  const folders = new Set(sources.flatMap((source) => packageFolderOf(source) ?? []))
  const packages = [...folders].map((folder) => readPackage(folder, locked.packages))
  return (await Promise.all(packages)).toSorted(byNameAndVersion)
}

const Lockfile = z.object({ packages: z.record(z.string(), z.array(z.unknown())) })

const Manifest = z.object({ name: z.string(), version: z.string(), license: z.string() })

/** `node_modules/a/node_modules/@b/c` of a file in it; null for a file of our own. */
function packageFolderOf(source: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? null
}

async function readPackage(
  folder: string,
  locked: Record<string, unknown[]>,
): Promise<BundledPackage> {
  const manifest = Manifest.parse(await Bun.file(join(root, folder, "package.json")).json())
  const { name, version, license: licence } = manifest
  // The lockfile calls a package within another `outer/inner`.
  const key = folder.replace(/^node_modules\//, "").replaceAll("/node_modules/", "/")
  const entry = locked[key]
  const integrity = entry?.at(-1)
  if (entry?.[0] !== `${name}@${version}` || typeof integrity !== "string") {
    throw new Error(`${folder} is ${name}@${version}, and not what bun.lock says: bun install.`)
  }
  return { name, version, integrity, licence }
}

function byNameAndVersion(one: BundledPackage, other: BundledPackage): number {
  const [first, second] = [one, other].map(({ name, version }) => `${name}@${version}`)
  return (first ?? "") < (second ?? "") ? -1 : 1
}
