import { join } from "node:path"
import { buildFacts } from "./build/build-facts.ts"
import { compile } from "./build/compile.ts"
import { releasedRuntime } from "./build/runtime.ts"
import { targets } from "./build/targets.ts"

// The executable of an image, for the processor that it is built for, by Docker's name of it: the
// same bytes as the released one's.
const [architecture = hostArchitecture()] = process.argv.slice(2).filter((word) => word !== "")
const name = `linux-${architecture.replace("amd64", "x64")}`
const target = targets.find((known) => known.name === name)
if (target === undefined) throw new Error(`There is no image for ${architecture}: amd64, arm64.`)
await compile({
  entry: join("src", "main.ts"),
  outfile: join("dist", "cc-executor"),
  facts: buildFacts(),
  runtime: await releasedRuntime(target),
  bunTarget: target.bunTarget,
})

/** The builder before BuildKit does not say what it builds for: itself. */
function hostArchitecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch
}
