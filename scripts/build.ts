import { join } from "node:path"
import { version } from "../package.json"
import { bun, root } from "./steps.ts"

// Tests build the same program around another entry, so that they try what users get.
const [entry = join("src", "main.ts"), outfile = join("dist", "cc-executor")] =
  process.argv.slice(2)

const defines = { BUILD_VERSION: version, BUILD_COMMIT: commit() }

process.exit(
  await bun(
    "build",
    entry,
    "--compile",
    "--production",
    "--minify",
    "--bytecode",
    "--format=esm",
    "--sourcemap",
    // The executable runs in other people's folders: their .env and bunfig.toml are not its own.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    ...Object.entries(defines).flatMap(([name, value]) => [
      "--define",
      `${name}=${JSON.stringify(value)}`,
    ]),
    `--outfile=${outfile}`,
  ),
)

function commit(): string {
  if (Bun.which("git") === null) return "unknown"
  const head = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], {
    cwd: root,
    stderr: "ignore",
  })
  return head.exitCode === 0 ? head.stdout.toString().trim() : "unknown"
}
