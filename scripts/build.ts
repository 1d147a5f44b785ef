import { join } from "node:path"
import { installIfMissing, root } from "./steps.ts"

// The executable for this machine, out of the Bun that runs this. Tests build the same program
// around another entry, so that they try what users get.
const [entry = join("src", "main.ts"), testOutfile] = process.argv.slice(2)
const outfile = testOutfile ?? join("dist", "cc-executor")

await installIfMissing()
const { buildFacts } = await import("./build/build-facts.ts")
const { compile } = await import("./build/compile.ts")
const { checksumList, releaseFile } = await import("./build/release-file.ts")
const { ownRuntime } = await import("./build/runtime.ts")

const runtime = await ownRuntime()
const compilation = { entry, outfile, facts: buildFacts(), runtime, bunTarget: null }
if (testOutfile === undefined) {
  const checksums = await releaseFile(compilation)
  await Bun.write(join(root, `${outfile}.sha256`), checksumList(checksums))
} else {
  await compile(compilation)
}
