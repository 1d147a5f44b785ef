import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { packageFolder } from "./package-folder.ts"
import { run, type Step } from "./steps.ts"

const cached = packageFolder("promtool")

/** Prometheus's checker of metrics, rules and configurations; null where it could not be had. */
export function promtool(): string | null {
  return Bun.which("promtool") ?? (existsSync(cached) ? cached : null)
}

/**
 * Debian's package brings a server that starts by itself. Nobody who runs our tests wants that, so
 * the package is only unpacked, and the one program taken out.
 */
export const fetchPromtool: Step = {
  name: "promtool",
  run: async () => {
    if (promtool() === null && Bun.which("apt-get") !== null) await unpack()
    if (promtool() === null) console.warn("missing, its tests are skipped: promtool")
    return 0
  },
}

/** Whole or not at all: the program is moved to its place when it is complete. */
async function unpack(): Promise<void> {
  await mkdir(dirname(cached), { recursive: true })
  const folder = await mkdtemp(`${cached}-`)
  const download = ["apt-get", "download", "-qq", "prometheus"]
  let exitCode = await run(download, {}, folder)
  if (exitCode !== 0 && process.getuid?.() === 0) {
    await run(["apt-get", "update", "-qq"])
    exitCode = await run(download, {}, folder)
  }
  const [name] = (await readdir(folder)).filter((file) => file.endsWith(".deb"))
  if (exitCode === 0 && name !== undefined) {
    const unpacked = await run(["dpkg", "-x", name, "package"], {}, folder)
    const program = join(folder, "package", "usr", "bin", "promtool")
    if (unpacked === 0 && existsSync(program)) await rename(program, cached)
  }
  await rm(folder, { recursive: true })
}
