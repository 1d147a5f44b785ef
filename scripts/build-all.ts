import { chmod } from "node:fs/promises"
import { join } from "node:path"
import type { Checksum } from "./build/release-file.ts"
import { bunVersion, targets } from "./build/targets.ts"
import { installIfMissing, root } from "./steps.ts"

// Everything that a release consists of, in dist/: for each target the executable and its bill of
// materials, the installer, and the checksums of all of them.
if (Bun.version !== bunVersion) {
  throw new Error(`This is Bun ${Bun.version}, and a release is built by ${bunVersion} alone.`)
}
await installIfMissing()
const { buildFacts } = await import("./build/build-facts.ts")
const { withHome } = await import("./build/installer.ts")
const { checksumList, releaseFile } = await import("./build/release-file.ts")
const { releasedRuntime } = await import("./build/runtime.ts")
const { sha256 } = await import("./build/sha256.ts")

const facts = buildFacts()
const checksums: Checksum[] = []
for (const target of targets) {
  const outfile = join("dist", `cc-executor-${target.name}`)
  const runtime = await releasedRuntime(target)
  const { bunTarget } = target
  const made = { entry: join("src", "main.ts"), outfile, facts, runtime, bunTarget }
  checksums.push(...(await releaseFile(made)))
}
const installer = join(root, "dist", "install.sh")
const script = await Bun.file(join(root, "install.sh")).text()
await Bun.write(installer, withHome(script, process.env["CC_EXECUTOR_RELEASE_HOME"] ?? ""))
await chmod(installer, 0o755)
checksums.push({ file: "install.sh", sha256: await sha256(installer) })
await Bun.write(join(root, "dist", "SHA256SUMS"), checksumList(checksums))
console.log(`\n${facts.version}, ${facts.commit}, ${facts.built ?? "no date"}, in dist/:`)
console.log(checksumList(checksums))
