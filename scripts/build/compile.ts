import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { z } from "zod"
import { bun, root } from "../steps.ts"
import type { BuildFacts } from "./build-facts.ts"
import { closeSwitches } from "./close-switches.ts"
import { buildConsole } from "./console.ts"
import type { Runtime } from "./runtime.ts"

export type Compilation = {
  entry: string
  outfile: string
  facts: BuildFacts
  runtime: Runtime
  /** Null for this machine. */
  bunTarget: string | null
}

/**
 * Makes one executable; answers the source files that are in it. The same sources and runtime give
 * the same bytes, wherever and whenever.
 */
export async function compile(compilation: Compilation): Promise<string[]> {
  const outfile = resolve(root, compilation.outfile)
  await mkdir(dirname(outfile), { recursive: true })
  const folder = await mkdtemp(join(dirname(outfile), `.${basename(outfile)}-`))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))

  // The name of the file is in the file: it is the same for every target.
  const program = join(folder, "cc-executor")
  const metafile = join(folder, "meta.json")
  const pack = join(folder, "console.pack")
  const page = await buildConsole()
  await Bun.write(pack, page.pack)
  const exitCode = await bun("build", ...buildArguments(compilation, pack, program, metafile))
  if (exitCode !== 0) throw new Error(`bun build failed (${exitCode}).`)
  closeSwitches(program)
  await chmod(program, 0o755)
  await rename(program, outfile)
  const sources = inputsOf(await Bun.file(metafile).json())
  const ownFiles = sources.filter((source) => !source.endsWith("console.pack"))
  return [...new Set([...ownFiles, ...page.sources])].toSorted()
}

function buildArguments(
  { entry, facts, runtime, bunTarget }: Compilation,
  pack: string,
  outfile: string,
  metafile: string,
): string[] {
  const defines = {
    BUILD_VERSION: facts.version,
    BUILD_COMMIT: facts.commit,
    BUILD_DATE: facts.built ?? "",
    // Some packages ask where they are. Their answer would be a folder of the machine that built
    // it, and the only thing that differs between two checkouts.
    __dirname: "/cc-executor",
    __filename: "/cc-executor/module.js",
  }
  return [
    entry,
    pack, // embedded as it is
    "--compile",
    ...(bunTarget === null ? [] : [`--target=${bunTarget}`]),
    // Else Bun would fetch the runtime of another target by itself, and look at no checksum.
    `--compile-executable-path=${runtime.path}`,
    "--production",
    "--minify",
    "--bytecode",
    "--format=esm",
    "--splitting", // a process loads the chunks it needs, and no others
    "--sourcemap",
    // The executable runs in other people's folders: what lies there is not its own.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-tsconfig",
    "--no-compile-autoload-package-json",
    ...Object.entries(defines).flatMap(([name, value]) => [
      "--define",
      `${name}=${JSON.stringify(value)}`,
    ]),
    `--metafile=${metafile}`,
    `--outfile=${outfile}`,
  ]
}

const Metafile = z.object({
  outputs: z.record(
    z.string(),
    z.object({ inputs: z.record(z.string(), z.object({ bytesInOutput: z.number() })) }),
  ),
})

/** Files of which at least a byte is left. */
function inputsOf(metafile: unknown): string[] {
  const { outputs } = Metafile.parse(metafile)
  const inputs = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  )
  return [...new Set(inputs)].toSorted()
}
